package vt

import (
	"fmt"
	"strconv"
	"strings"
)

// Text returns the lines of the screen without their trailing blanks.
func (s *Screen) Text() []string {
	lines := make([]string, s.rows)
	for i, l := range s.page().lines {
		var b strings.Builder
		for _, c := range l {
			switch {
			case c.width == 0:
			case c.char == 0:
				b.WriteByte(' ')
			default:
				b.WriteRune(c.char)
				b.WriteString(c.marks)
			}
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// Cursor returns where the next character would go.
func (s *Screen) Cursor() (x, y int) { return s.page().cur.x, s.page().cur.y }

// Paste reports whether the program wants to know pasted text from typed.
func (s *Screen) Paste() bool { return s.modes.on(modePaste) }

// Draw returns the bytes that make another terminal show this screen, whatever
// it showed before. With history, the lines that left the screen go before it.
func (s *Screen) Draw(history bool) []byte {
	b := []byte("\x1b[!p\x1b[?1049l\x1b[r\x1b[0m\x1b(B\x0f\x1b[?25l\x1b[?6l\x1b[4l")
	if history && len(s.history) > 0 {
		b = append(b, "\x1b[H\x1b[2J"...)
		for _, l := range s.history {
			b = append(append(b, l...), "\r\n"...)
		}
		b = append(b, strings.Repeat("\r\n", s.rows)...)
	}
	b = append(append(append(b, "\x1b]2;"...), s.title...), bel)
	b = append(b, "\x1b[3g"...)
	for x, stop := range s.tabs[:s.columns] {
		if stop {
			b = fmt.Appendf(b, "\x1b[%dG\x1bH", x+1)
		}
	}
	b = s.drawPage(b, &s.main)
	if s.inAlt {
		b = append(b, "\x1b[?1049h"...)
		b = s.drawPage(b, &s.alt)
	}
	for _, n := range shownModes {
		b = fmt.Appendf(b, "\x1b[?%d%c", n, highLow(s.modes.on(n)))
	}
	if s.modes.keypad {
		b = append(b, "\x1b="...)
	} else {
		b = append(b, "\x1b>"...)
	}
	if s.insert {
		b = append(b, "\x1b[4h"...)
	}
	if s.modes.on(modeCursor) {
		b = append(b, "\x1b[?25h"...)
	}
	return b
}

func highLow(on bool) byte {
	if on {
		return 'h'
	}
	return 'l'
}

func (s *Screen) drawPage(b []byte, p *page) []byte {
	b = append(b, "\x1b[?6l\x1b[0m\x1b(B\x0f\x1b[H\x1b[2J"...)
	for y, l := range p.lines {
		drawn := drawLine(nil, l)
		if len(drawn) == 0 {
			continue
		}
		b = fmt.Appendf(b, "\x1b[%dH", y+1)
		b = append(b, drawn...)
	}
	if p.top != 0 || p.bottom != s.rows-1 {
		b = fmt.Appendf(b, "\x1b[%d;%dr", p.top+1, p.bottom+1)
	} else {
		b = append(b, "\x1b[r"...) // the main screen's region is active until then
	}
	b = s.drawCursor(b, p.saved, p)
	b = append(b, "\x1b7"...)
	if p.saved.wrap { // a last column that is empty by now was drawn as a space
		if _, last := p.last(p.saved.y); last.char == 0 {
			b = append(last.style.append(b), "\x1b[X"...)
		}
	}
	return s.drawCursor(b, p.cur, p)
}

// last returns the column and the cell of the last character of a line.
func (p *page) last(y int) (int, cell) {
	l := p.lines[y]
	x := len(l) - 1
	if x > 0 && l[x].width == 0 {
		x--
	}
	return x, l[x]
}

// drawCursor puts the cursor where it is, with its style and character sets. For a
// cursor that wraps at the next character, it draws the last character of the line
// again, which leaves the cursor in that state.
func (s *Screen) drawCursor(b []byte, c cursor, p *page) []byte {
	y := c.y
	if c.origin {
		y = max(y-p.top, 0)
	}
	b = fmt.Appendf(b, "\x1b[?6%c", highLow(c.origin))
	if c.wrap {
		x, last := p.last(c.y)
		b = fmt.Appendf(b, "\x1b(B\x0f\x1b[%d;%dH", y+1, x+1)
		b = last.style.append(b)
		b = append(append(b, string(max(last.char, ' '))...), last.marks...)
	} else {
		b = fmt.Appendf(b, "\x1b[%d;%dH", y+1, c.x+1)
	}
	for i, set := range c.sets {
		if set == 0 {
			set = 'B'
		}
		b = append(b, esc, "()"[i], set)
	}
	b = append(b, "\x0f\x0e"[c.shift])
	return c.style.append(b)
}

// drawLine draws a line from its first column on, up to the last cell that
// shows anything.
func drawLine(b []byte, l []cell) []byte {
	end := len(l)
	for end > 0 && l[end-1].char == 0 && l[end-1].width == 1 && l[end-1].style == (style{}) {
		end--
	}
	var now style
	for _, c := range l[:end] {
		if c.width == 0 {
			continue
		}
		if c.style != now {
			now = c.style
			b = now.append(b)
		}
		if c.char == 0 {
			b = append(b, ' ')
			continue
		}
		b = append(append(b, string(c.char)...), c.marks...)
	}
	if now != (style{}) {
		b = append(b, "\x1b[0m"...)
	}
	return b
}

// String returns the screen for people who look for a fault.
func (s *Screen) String() string {
	x, y := s.Cursor()
	return strings.Join(s.Text(), "\n") + "\n(" + strconv.Itoa(x) + "," + strconv.Itoa(y) + ")"
}
