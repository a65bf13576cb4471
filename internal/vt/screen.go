package vt

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Bounds of a screen, and of what it keeps of the lines that left it.
const (
	MaxColumns = 500
	MaxRows    = 200

	historyLines = 1000
	historyBytes = 256 << 10
	maxCombining = 16 // bytes of marks on one character
)

// cell is one place. A character that is two columns wide leaves the cell
// behind it empty, with the width 0.
type cell struct {
	char  rune
	marks string // combining characters
	width int8   // 1 or 2; 0 for the second half of a wide one
	style style
}

type cursor struct {
	x, y   int
	style  style
	wrap   bool // the last column is filled: the next character goes to the next line
	origin bool // rows count from the scrolling region
	shift  int  // which of the two character sets is in use
	sets   [2]byte
}

// page is one of the two screens that a terminal has.
type page struct {
	lines       [][]cell
	cur, saved  cursor
	top, bottom int // of the scrolling region, inclusive; the other page takes it over
}

// Screen is what a person would see of a program's output. It is not safe for
// concurrent use.
type Screen struct {
	// Reply, when set, gets what a terminal answers to a program's questions.
	Reply func([]byte)
	// OSC, when set, gets the text of every operating system command.
	OSC func([]byte)

	p             parser
	f             Filter
	columns, rows int
	main, alt     page
	inAlt         bool
	modes         modes
	insert        bool
	tabs          []bool
	last          rune // the character that was printed just now
	title         string

	history      []string // lines that left the main screen, drawn
	historyBytes int
	written      int64
}

// NewScreen makes an empty screen.
func NewScreen(columns, rows int) *Screen {
	s := &Screen{}
	s.columns, s.rows = bound(columns, rows)
	s.reset()
	return s
}

func bound(columns, rows int) (int, int) {
	return min(max(columns, 1), MaxColumns), min(max(rows, 1), MaxRows)
}

func (s *Screen) reset() {
	s.main, s.alt = newPage(s.columns, s.rows), newPage(s.columns, s.rows)
	s.inAlt, s.insert, s.modes, s.title = false, false, defaultModes(), ""
	s.setTabs()
}

func (s *Screen) setTabs() {
	s.tabs = make([]bool, MaxColumns)
	for i := 8; i < MaxColumns; i += 8 {
		s.tabs[i] = true
	}
}

func newPage(columns, rows int) page {
	p := page{lines: make([][]cell, rows), bottom: rows - 1}
	for i := range p.lines {
		p.lines[i] = blank(columns, style{})
	}
	return p
}

func blank(columns int, st style) []cell {
	l := make([]cell, columns)
	for i := range l {
		l[i] = cell{width: 1, style: style{bg: st.bg}}
	}
	return l
}

// Size returns how large it is.
func (s *Screen) Size() (columns, rows int) { return s.columns, s.rows }

// Write takes the program's next bytes, cut anywhere, and returns what of them
// may be shown on another terminal. The slice is valid until the next call.
func (s *Screen) Write(b []byte) []byte {
	s.written += int64(len(b))
	s.f.out = s.f.out[:0]
	s.p.feed(b, s.take)
	return s.f.out
}

// Written counts the bytes it was given.
func (s *Screen) Written() int64 { return s.written }

func (s *Screen) take(t token) {
	s.f.take(t)
	if t.long {
		return
	}
	switch t.kind {
	case kindPrint:
		s.print(t.char)
		return
	case kindControl:
		s.control(t.char)
	case kindEscape:
		s.escape(t)
	case kindCSI:
		s.csi(t.final, parseParams(t.body))
	case kindOSC:
		s.osc(t.body)
	}
	s.last = 0
}

func (s *Screen) osc(body []byte) {
	if number, text, ok := strings.Cut(string(body[:min(len(body), 1024)]), ";"); ok && (number == "0" || number == "2") {
		s.title = strings.ToValidUTF8(strings.Map(func(r rune) rune {
			if r < 0x20 || (r >= del && r < 0xa0) {
				return -1
			}
			return r
		}, text), "")
	}
	if s.OSC != nil {
		s.OSC(body)
	}
}

func (s *Screen) page() *page {
	if s.inAlt {
		return &s.alt
	}
	return &s.main
}

// graphics are the line drawing characters that stand for ` to ~.
var graphics = []rune("◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")

func (s *Screen) print(r rune) {
	p := s.page()
	c := &p.cur
	if c.sets[c.shift] == '0' && r >= '`' && r <= '~' {
		r = graphics[r-'`']
	}
	width := 1
	if r >= 0x300 {
		width = ansi.StringWidth(string(r))
	}
	if width == 0 {
		s.combine(r)
		return
	}
	width = min(width, 2)
	s.last = r
	if c.wrap && s.modes.on(modeWrap) {
		c.x, c.wrap = 0, false
		s.lineFeed()
	}
	if c.x+width > s.columns {
		if s.columns < width {
			return
		}
		if s.modes.on(modeWrap) {
			c.x = 0
			s.lineFeed()
		} else {
			c.x = s.columns - width
		}
	}
	line := p.lines[c.y]
	if s.insert {
		split(line, c.x)
		split(line, s.columns-width)
		copy(line[c.x+width:], line[c.x:])
	}
	split(line, c.x)
	split(line, c.x+width)
	line[c.x] = cell{char: r, width: int8(width), style: c.style}
	if width == 2 {
		line[c.x+1] = cell{style: c.style}
	}
	if c.x+width >= s.columns {
		c.x, c.wrap = s.columns-1, true
	} else {
		c.x += width
	}
}

// split makes sure that no wide character reaches over the border before x.
func split(line []cell, x int) {
	if x <= 0 || x >= len(line) || line[x].width != 0 {
		return
	}
	line[x-1] = cell{width: 1, style: line[x-1].style}
	line[x] = cell{width: 1, style: line[x].style}
}

// combine adds a mark to the character before the cursor.
func (s *Screen) combine(r rune) {
	p := s.page()
	x := p.cur.x
	if !p.cur.wrap {
		x--
	}
	line := p.lines[p.cur.y]
	if x > 0 && x < len(line) && line[x].width == 0 {
		x--
	}
	if x < 0 || line[x].char <= ' ' || len(line[x].marks) >= maxCombining {
		return
	}
	line[x].marks += string(r)
}

func (s *Screen) control(r rune) {
	p := s.page()
	c := &p.cur
	switch r {
	case '\b':
		c.x, c.wrap = max(c.x-1, 0), false
	case '\t':
		s.tab(1)
	case '\n', '\v', '\f':
		s.lineFeed()
		if s.modes.newline {
			c.x, c.wrap = 0, false
		}
	case '\r':
		c.x, c.wrap = 0, false
	case 0x0e:
		c.shift = 1
	case 0x0f:
		c.shift = 0
	}
}

func (s *Screen) tab(n int) {
	c := &s.page().cur
	c.wrap = false
	for ; n > 0 && c.x < s.columns-1; n-- {
		for c.x++; c.x < s.columns-1 && !s.tabs[c.x]; c.x++ {
		}
	}
	for ; n < 0 && c.x > 0; n++ {
		for c.x--; c.x > 0 && !s.tabs[c.x]; c.x-- {
		}
	}
}

// lineFeed goes one line down, and scrolls at the end of the region.
func (s *Screen) lineFeed() {
	p := s.page()
	p.cur.wrap = false
	switch {
	case p.cur.y == p.bottom:
		s.scroll(p.top, p.bottom, 1)
	case p.cur.y < s.rows-1:
		p.cur.y++
	}
}

// scroll moves the lines from top to bottom up by n, down when n is negative.
func (s *Screen) scroll(top, bottom, n int) {
	p := s.page()
	if top > bottom {
		return
	}
	region := p.lines[top : bottom+1]
	count := min(max(n, -n), len(region))
	if n > 0 {
		if top == 0 && !s.inAlt {
			for _, l := range region[:count] {
				s.remember(l)
			}
		}
		rotate(region, count)
		region = region[len(region)-count:]
	} else {
		rotate(region, len(region)-count)
		region = region[:count]
	}
	for _, l := range region {
		clearCells(l, p.cur.style)
	}
}

func rotate(lines [][]cell, n int) {
	slices.Reverse(lines[:n])
	slices.Reverse(lines[n:])
	slices.Reverse(lines)
}

func clearCells(cells []cell, st style) {
	for i := range cells {
		cells[i] = cell{width: 1, style: style{bg: st.bg}}
	}
}

// remember keeps a line that leaves the main screen at its top.
func (s *Screen) remember(l []cell) {
	text := string(drawLine(nil, l))
	s.history = append(s.history, text)
	s.historyBytes += len(text)
	drop := 0
	for len(s.history)-drop > historyLines || s.historyBytes > historyBytes {
		s.historyBytes -= len(s.history[drop])
		drop++
	}
	if drop > 0 {
		s.history = slices.Delete(s.history, 0, drop)
	}
}

// Resize changes the size. Lines are cut and not wrapped again, because the program
// draws again after it got its new size.
func (s *Screen) Resize(columns, rows int) {
	columns, rows = bound(columns, rows)
	if columns == s.columns && rows == s.rows {
		return
	}
	inAlt := s.inAlt
	for _, alt := range []bool{false, true} {
		s.inAlt = alt
		p := s.page()
		if over := p.cur.y - (rows - 1); over > 0 {
			s.scroll(0, s.rows-1, over)
			p.cur.y -= over
		}
		p.resize(columns, rows)
	}
	s.inAlt = inAlt
	s.columns, s.rows = columns, rows
}

func (p *page) resize(columns, rows int) {
	for len(p.lines) > rows {
		p.lines = p.lines[:len(p.lines)-1]
	}
	for len(p.lines) < rows {
		p.lines = append(p.lines, blank(columns, style{}))
	}
	for i, l := range p.lines {
		switch {
		case len(l) > columns:
			split(l, columns)
			l = slices.Clip(l[:columns])
		case len(l) < columns:
			l = append(l, blank(columns-len(l), style{})...)
		}
		p.lines[i] = l
	}
	p.top, p.bottom = 0, rows-1
	for _, c := range []*cursor{&p.cur, &p.saved} {
		c.x, c.y, c.wrap = min(c.x, columns-1), min(c.y, rows-1), false
	}
}
