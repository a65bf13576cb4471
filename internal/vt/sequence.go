package vt

import (
	"fmt"
	"slices"
)

// The private modes that matter here. Those in shownModes are set again when
// the screen is drawn for somebody who comes later.
const (
	modeCursorKeys = 1
	modeOrigin     = 6
	modeWrap       = 7
	modeCursor     = 25
	modePaste      = 2004
)

var shownModes = []int{modeCursorKeys, modeWrap, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, modePaste}

type modes struct {
	private map[int]bool
	keypad  bool // sends other sequences
	newline bool // a line feed returns the carriage, too
}

func defaultModes() modes { return modes{private: map[int]bool{modeWrap: true, modeCursor: true}} }

func (m modes) on(n int) bool { return m.private[n] }

func (s *Screen) escape(t token) {
	p := s.page()
	if len(t.body) == 1 {
		switch {
		case t.body[0] == '(' || t.body[0] == ')':
			p.cur.sets[t.body[0]-'('] = t.final
		case t.body[0] == '#' && t.final == '8':
			s.fillScreen()
		}
		return
	}
	if len(t.body) > 1 {
		return
	}
	switch t.final {
	case '7':
		p.saved = p.cur
	case '8':
		s.restore()
	case 'D':
		s.lineFeed()
	case 'E':
		p.cur.x = 0
		s.lineFeed()
	case 'H':
		s.tabs[p.cur.x] = true
	case 'M':
		p.cur.wrap = false
		if p.cur.y == p.top {
			s.scroll(p.top, p.bottom, -1)
		} else {
			p.cur.y = max(p.cur.y-1, 0)
		}
	case 'Z':
		s.reply("\x1b[?62;22c")
	case '=', '>':
		s.modes.keypad = t.final == '='
	case 'c':
		s.reset()
	}
}

// fillScreen draws the pattern by which terminals are adjusted. The region is the
// whole screen afterwards.
func (s *Screen) fillScreen() {
	p := s.page()
	p.top, p.bottom = 0, s.rows-1
	for _, l := range p.lines {
		for i := range l {
			l[i] = cell{char: 'E', width: 1}
		}
	}
	s.move(0, 0)
}

func (s *Screen) restore() {
	p := s.page()
	p.cur = p.saved
	p.cur.x, p.cur.y = min(p.cur.x, s.columns-1), min(p.cur.y, s.rows-1)
}

func (s *Screen) reply(text string) {
	if s.Reply != nil {
		s.Reply([]byte(text))
	}
}

// move puts the cursor somewhere, within the screen.
func (s *Screen) move(x, y int) {
	c := &s.page().cur
	c.x, c.y, c.wrap = min(max(x, 0), s.columns-1), min(max(y, 0), s.rows-1), false
}

// moveTo puts the cursor where a program counts from: the region, if it says so.
func (s *Screen) moveTo(x, y int) {
	p := s.page()
	if p.cur.origin {
		s.move(x, min(y+p.top, p.bottom))
		return
	}
	s.move(x, y)
}

// vertical moves the cursor up or down. It stops at the border of the region that
// it meets first.
func (s *Screen) vertical(n int) {
	p := s.page()
	top, bottom := 0, s.rows-1
	if p.cur.y >= p.top {
		top = p.top
	}
	if p.cur.y <= p.bottom {
		bottom = p.bottom
	}
	s.move(p.cur.x, min(max(p.cur.y+n, top), bottom))
}

func (s *Screen) csi(final byte, a params) {
	if a.inter != "" || a.prefix != 0 {
		s.csiMarked(final, a)
		return
	}
	p := s.page()
	c := &p.cur
	n := min(a.at(0, 1), max(s.columns, s.rows)) // no further is anything to be had
	switch final {
	case 'A':
		s.vertical(-n)
	case 'B', 'e':
		s.vertical(n)
	case 'C', 'a':
		s.move(c.x+n, c.y)
	case 'D':
		s.move(c.x-n, c.y)
	case 'E':
		s.vertical(n)
		c.x = 0
	case 'F':
		s.vertical(-n)
		c.x = 0
	case 'G', '`':
		s.move(n-1, c.y)
	case 'd':
		s.moveTo(c.x, n-1)
	case 'H', 'f':
		s.moveTo(a.at(1, 1)-1, n-1)
	case 'I':
		s.tab(min(n, s.columns))
	case 'Z':
		s.tab(-min(n, s.columns))
	case 'J', 'K', 'L', 'M', 'P', '@', 'X', 'S', 'T':
		s.edit(final, a)
	case 'b':
		for last := s.last; last != 0 && n > 0; n-- {
			s.print(last)
		}
	case 'm':
		c.style.apply(a)
	case 'r':
		s.region(a)
	case 's':
		p.saved = p.cur
	case 'u':
		s.restore()
	case 'g':
		s.clearTabs(max(a.n[0], 0))
	case 'h', 'l':
		s.ansiMode(a, final == 'h')
	case 'n':
		s.report(a.at(0, 0))
	case 'c':
		s.reply("\x1b[?62;22c")
	}
}

// csiMarked takes the sequences with a prefix or intermediate.
func (s *Screen) csiMarked(final byte, a params) {
	switch {
	case a.prefix == '?' && a.inter == "" && (final == 'h' || final == 'l'):
		for _, n := range a.n {
			s.privateMode(n, final == 'h')
		}
	case a.prefix == '?' && a.inter == "" && (final == 'J' || final == 'K'):
		s.edit(final, a)
	case a.prefix == '?' && a.inter == "$" && final == 'p':
		// Whether a mode is set; 0 stands for one that is not known.
		value := 0
		if on, known := s.modes.private[a.at(0, 0)]; known {
			value = 2
			if on {
				value = 1
			}
		}
		s.reply(fmt.Sprintf("\x1b[?%d;%d$y", a.at(0, 0), value))
	case a.prefix == '?' && final == 'n' && a.at(0, 0) == 6:
		s.report(6)
	case a.prefix == '>' && final == 'c':
		s.reply("\x1b[>1;10;0c")
	case a.prefix == 0 && a.inter == "!" && final == 'p':
		p := s.page()
		p.cur.style, p.cur.origin, p.cur.sets, p.cur.shift = style{}, false, [2]byte{}, 0
		p.top, p.bottom = 0, s.rows-1
		s.insert, s.modes = false, defaultModes()
	}
}

func (s *Screen) report(what int) {
	p := s.page()
	switch what {
	case 5:
		s.reply("\x1b[0n")
	case 6:
		y := p.cur.y
		if p.cur.origin {
			y -= p.top
		}
		s.reply(fmt.Sprintf("\x1b[%d;%dR", y+1, p.cur.x+1))
	}
}

func (s *Screen) ansiMode(a params, on bool) {
	for _, n := range a.n {
		switch n {
		case 4:
			s.insert = on
		case 20:
			s.modes.newline = on
		}
	}
}

func (s *Screen) privateMode(n int, on bool) {
	switch n {
	case 47, 1047, 1049:
		if n == 1049 && on && !s.inAlt {
			s.main.saved = s.main.cur
		}
		if on && !s.inAlt {
			cur := s.main.cur
			s.alt = newPage(s.columns, s.rows)
			s.alt.cur = cur
			s.alt.cur.wrap = false
			s.alt.top, s.alt.bottom = s.main.top, s.main.bottom
		}
		was := s.inAlt
		s.inAlt = on
		if was && !on {
			s.main.top, s.main.bottom = s.alt.top, s.alt.bottom
		}
		if n == 1049 && !on && was {
			s.restore()
		}
		return
	case 1048:
		if on {
			s.page().saved = s.page().cur
		} else {
			s.restore()
		}
		return
	case modeOrigin:
		s.page().cur.origin = on
		s.moveTo(0, 0)
	}
	if n > 0 && (slices.Contains(shownModes, n) || n == modeCursor || n == modeOrigin) {
		s.modes.private[n] = on
	}
}

func (s *Screen) region(a params) {
	p := s.page()
	top, bottom := a.at(0, 1)-1, min(a.at(1, s.rows), s.rows)-1
	if top >= bottom {
		return
	}
	p.top, p.bottom = top, bottom
	s.moveTo(0, 0)
}

func (s *Screen) clearTabs(what int) {
	switch what {
	case 0:
		s.tabs[s.page().cur.x] = false
	case 3:
		clear(s.tabs)
	}
}

// edit takes the sequences that clear, insert and delete.
func (s *Screen) edit(final byte, a params) {
	p := s.page()
	c := &p.cur
	c.wrap = false
	n := a.at(0, 1)
	line := p.lines[c.y]
	switch final {
	case 'J':
		s.clearScreen(a.at(0, 0))
	case 'K':
		ends := [][2]int{{c.x, s.columns}, {0, c.x + 1}, {0, s.columns}}
		if a.at(0, 0) >= len(ends) {
			return
		}
		from, to := ends[a.at(0, 0)][0], ends[a.at(0, 0)][1]
		split(line, from)
		split(line, to)
		clearCells(line[from:to], c.style)
	case 'L', 'M':
		if c.y < p.top || c.y > p.bottom {
			return
		}
		if final == 'L' {
			n = -n
		}
		s.shiftLines(c.y, p.bottom, n)
		c.x = 0
	case 'P':
		n = min(n, s.columns-c.x)
		split(line, c.x)
		split(line, c.x+n)
		copy(line[c.x:], line[c.x+n:])
		clearCells(line[s.columns-n:], c.style)
	case '@':
		n = min(n, s.columns-c.x)
		split(line, c.x)
		split(line, s.columns-n)
		copy(line[c.x+n:], line[c.x:])
		clearCells(line[c.x:c.x+n], c.style)
	case 'X':
		n = min(n, s.columns-c.x)
		split(line, c.x)
		split(line, c.x+n)
		clearCells(line[c.x:c.x+n], c.style)
	case 'S':
		s.scroll(p.top, p.bottom, min(n, s.rows))
	case 'T':
		s.scroll(p.top, p.bottom, -min(n, s.rows))
	}
}

// shiftLines scrolls a part of the region; nothing of it is history.
func (s *Screen) shiftLines(top, bottom, n int) {
	n = min(max(n, -s.rows), s.rows)
	inAlt, alt := s.inAlt, s.alt
	if !inAlt { // as if on the other screen, which has no history
		s.inAlt, s.alt = true, s.main
	}
	s.scroll(top, bottom, n)
	s.inAlt, s.alt = inAlt, alt
}

func (s *Screen) clearScreen(what int) {
	p := s.page()
	c := &p.cur
	from, to := c.y, s.rows
	switch what {
	case 0:
		split(p.lines[c.y], c.x)
		clearCells(p.lines[c.y][c.x:], c.style)
		from++
	case 1:
		split(p.lines[c.y], c.x+1)
		clearCells(p.lines[c.y][:min(c.x+1, s.columns)], c.style)
		from, to = 0, c.y
	case 2:
		from = 0
	case 3:
		s.history, s.historyBytes = nil, 0
		return
	default:
		return
	}
	for _, l := range p.lines[from:to] {
		clearCells(l, c.style)
	}
}
