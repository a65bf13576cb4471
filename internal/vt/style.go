package vt

import "strconv"

// style is how a cell looks.
type style struct {
	fg, bg colour
	attr   attr
}

// colour is one of the palette, or of all; the zero value is the terminal's own.
type colour uint32

const (
	fromPalette colour = 1 << 24
	fromAll     colour = 2 << 24
)

type attr uint16

const (
	bold attr = 1 << iota
	faint
	italic
	underline
	blink
	reverse
	hidden
	struck
)

// attrs are the attributes by the number that sets them.
var attrs = []struct {
	n int
	a attr
}{{1, bold}, {2, faint}, {3, italic}, {4, underline}, {5, blink}, {7, reverse}, {8, hidden}, {9, struck}}

// apply changes a style as the parameters of SGR say.
func (s *style) apply(p params) {
	for i := 0; i < len(p.n); i++ {
		n := max(p.n[i], 0)
		// What colons join belongs to the number they follow.
		end := i + 1
		for end < len(p.n) && p.sub[end] {
			end++
		}
		switch {
		case n == 38 || n == 48:
			c, used := extended(p, i, end)
			if n == 38 {
				s.fg = c
			} else {
				s.bg = c
			}
			i = max(end, i+1+used) - 1
			continue
		case n == 58: // the colour of underlines is not kept
			_, used := extended(p, i, end)
			i = max(end, i+1+used) - 1
			continue
		case n == 4 && end > i+1 && p.n[i+1] == 0:
			s.attr &^= underline
		default:
			s.one(n)
		}
		i = end - 1
	}
}

// extended reads a colour that takes several numbers, joined by colons or, in
// the older way, by semicolons. used counts the numbers behind the first when
// they are not joined.
func extended(p params, i, end int) (c colour, used int) {
	args := p.n[i+1:]
	joined := end > i+1
	if joined {
		args = p.n[i+1 : end]
	}
	if len(args) == 0 {
		return 0, 0
	}
	switch args[0] {
	case 5:
		if len(args) >= 2 {
			c = fromPalette | colour(max(args[1], 0)&0xff)
		}
		used = min(2, len(args))
	case 2:
		rgb := args[1:]
		if joined && len(rgb) >= 4 {
			rgb = rgb[1:] // the colour space comes first
		}
		if len(rgb) >= 3 {
			c = fromAll
			for k := range 3 {
				c |= colour(max(rgb[k], 0)&0xff) << (16 - 8*k)
			}
		}
		used = min(4, len(args))
	default:
		used = 1
	}
	if joined {
		used = 0
	}
	return c, used
}

func (s *style) one(n int) {
	switch {
	case n == 0:
		*s = style{}
	case n == 21:
		s.attr |= underline
	case n == 22:
		s.attr &^= bold | faint
	case n >= 23 && n <= 29:
		for _, a := range attrs {
			if a.n == n-20 {
				s.attr &^= a.a
			}
		}
	case n == 6:
		s.attr |= blink
	case n >= 30 && n <= 37:
		s.fg = fromPalette | colour(n-30)
	case n == 39:
		s.fg = 0
	case n >= 40 && n <= 47:
		s.bg = fromPalette | colour(n-40)
	case n == 49:
		s.bg = 0
	case n >= 90 && n <= 97:
		s.fg = fromPalette | colour(n-90+8)
	case n >= 100 && n <= 107:
		s.bg = fromPalette | colour(n-100+8)
	default:
		for _, a := range attrs {
			if a.n == n {
				s.attr |= a.a
			}
		}
	}
}

// append writes the sequence that sets the style, whatever was set before.
func (s style) append(b []byte) []byte {
	b = append(b, "\x1b[0"...)
	for _, a := range attrs {
		if s.attr&a.a != 0 {
			b = strconv.AppendInt(append(b, ';'), int64(a.n), 10)
		}
	}
	b = s.fg.append(b, 38)
	b = s.bg.append(b, 48)
	return append(b, 'm')
}

func (c colour) append(b []byte, n int64) []byte {
	switch {
	case c&fromPalette != 0:
		b = strconv.AppendInt(append(b, ';'), n, 10)
		b = append(b, ";5;"...)
		return strconv.AppendInt(b, int64(c&0xff), 10)
	case c&fromAll != 0:
		b = strconv.AppendInt(append(b, ';'), n, 10)
		b = append(b, ";2"...)
		for k := range 3 {
			b = strconv.AppendInt(append(b, ';'), int64(c>>(16-8*k)&0xff), 10)
		}
	}
	return b
}
