package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"coppice"
)

// Unit says how a service counts the characters of a text.
type Unit func(rune) int

// Runes counts characters.
func Runes(rune) int { return 1 }

// Bytes counts bytes of UTF-8.
func Bytes(r rune) int { return utf8.RuneLen(r) }

// UTF16 counts as JavaScript and Java do: a character beyond U+FFFF counts twice.
func UTF16(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// Limit is the longest text that a service accepts, and how it counts.
type Limit struct {
	Most int
	Unit Unit
}

const ellipsis = "…"

func (l Limit) size(s string) (n int) {
	for _, r := range s {
		n += l.Unit(r)
	}
	return n
}

// Fit escapes a text and cuts it to the limit. It cuts between two characters of the
// text, so that an escape stays whole, and marks the cut with "…". escape can be nil.
func (l Limit) Fit(s string, escape func(rune) string) string {
	var out strings.Builder
	used, fits := 0, 0 // fits is the length of what leaves space for the ellipsis
	space := l.Most - l.size(ellipsis)
	for _, r := range s {
		part := string(r)
		if escape != nil {
			part = escape(r)
		}
		if used += l.size(part); used > l.Most {
			if space < 0 {
				return ""
			}
			return strings.TrimRight(out.String()[:fits], " \n") + ellipsis
		}
		out.WriteString(part)
		if used <= space {
			fits = out.Len()
		}
	}
	return out.String()
}

// Escaper returns an escape for Fit: it writes the prefix before each of the
// characters.
func Escaper(prefix, characters string) func(rune) string {
	return func(r rune) string {
		if strings.ContainsRune(characters, r) {
			return prefix + string(r)
		}
		return string(r)
	}
}

// Mark returns the end of the id without the time, such as #7-1. People see it in messages
// of services that have no field for an id: a repetition has the same.
func (m Message) Mark() string {
	_, end, ok := strings.Cut(m.ID, "-")
	if !ok {
		end = m.ID
	}
	return "#" + end
}

// Clean returns the message with an id that every receiver accepts, and with texts that
// every receiver can show: without control characters and characters that change the order
// of the text.
func (m Message) Clean() Message {
	m.ID = cleanID(m.ID)
	m.Title = cmp.Or(strings.Join(strings.Fields(coppice.Printable(m.Title)), " "), "Coppice")
	m.Text = strings.TrimSpace(coppice.Printable(m.Text))
	return m
}

// mostID is the length of an id that every receiver accepts. The engine makes only such
// ids. Messages that an earlier version has stored can have others.
const mostID = 64

// cleanID returns an id of letters, digits, dashes and underscores. Different ids stay
// different.
func cleanID(id string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, id)
	if clean == id && len(id) <= mostID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	mark := "-" + hex.EncodeToString(sum[:8])
	return clean[:min(len(clean), mostID-len(mark))] + mark
}

// Links returns the links of the message, with their names.
func (m Message) Links() (list []Link) {
	if m.Answer != "" {
		list = append(list, Link{"Answer", m.Answer})
	}
	if m.Link != "" {
		list = append(list, Link{"Open", m.Link})
	}
	return list
}

// Link is a link of a message.
type Link struct{ Name, URL string }

// Plain returns the text and the links for a receiver without markup, within the limit.
// The links stay whole: only the text is cut.
func (m Message) Plain(l Limit, escape func(rune) string) string {
	return m.plain(l, escape, "")
}

// Marked returns what Plain does, with the mark at its end.
func (m Message) Marked(l Limit, escape func(rune) string) string {
	return m.plain(l, escape, "· "+m.Mark())
}

func (m Message) plain(l Limit, escape func(rune) string, mark string) string {
	var lines []string
	for _, to := range m.Links() {
		lines = append(lines, to.Name+": "+to.URL)
	}
	end := strings.Join(lines, "\n")
	if end != "" && m.Text != "" {
		end = "\n\n" + end
	}
	if mark != "" && end+m.Text != "" {
		mark = " " + mark
	}
	end += mark
	return Limit{max(l.Most-l.size(end), 0), l.Unit}.Fit(m.Text, escape) + end
}
