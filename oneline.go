package coppice

import (
	"strings"
	"unicode"
)

// TurnsText reports whether a character changes the order in which the text
// around it is shown, or breaks a line invisibly. Text with such a character can
// look like other text.
func TurnsText(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}

// Visible reports whether a text has a character that people can see.
func Visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.IsControl(r) && r != 0x2800 && // a braille pattern without dots
			!unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point)
	})
}

// LineProblem says why a text is not a line that people can read, as in "the
// title has a line break". It returns "" if the text is such a line. A tab is
// allowed.
func LineProblem(s string) string {
	turns := false
	for _, r := range s {
		if unicode.IsControl(r) && r != '\t' {
			return "has a line break or control character"
		}
		turns = turns || TurnsText(r)
	}
	switch {
	case turns:
		return "has a character that changes the order of the text or breaks the line"
	case !Visible(s):
		return "has no visible character"
	}
	return ""
}

// Printable returns a text without control characters, sequences that control a
// terminal, and characters that change its order. Line breaks and tabs stay.
func Printable(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	var kept []byte // linear: an agent can write a megabyte of such sequences
	for s != "" {
		rest, joined := s, len(kept) > 0 && kept[len(kept)-1] == '\x1b' && s[0] == '['
		if joined { // removing the sequence before it has made another one
			kept, rest = kept[:len(kept)-1], s[1:]
		} else {
			i := strings.Index(s, "\x1b[")
			if i < 0 {
				kept = append(kept, s...)
				break
			}
			kept, rest = append(kept, s[:i]...), s[i+2:]
		}
		s = strings.TrimLeftFunc(rest, func(r rune) bool { return r >= 0x20 && r <= 0x3f }) // its parameters
		if s != "" && s[0] >= 0x40 && s[0] <= 0x7e {
			s = s[1:] // its final character
		}
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || TurnsText(r)) {
			return -1
		}
		return r
	}, string(kept))
}

// mostLine limits a line that FirstLine returns, in characters.
const mostLine = 160

// FirstLine returns the first line of a text that is not blank, without control
// characters. It shortens a long line.
func FirstLine(s string) string {
	for line := range strings.Lines(s) {
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
		}), " ")
		if runes := []rune(line); len(runes) > mostLine {
			line = string(runes[:mostLine-1]) + "…"
		}
		if line != "" {
			return line
		}
	}
	return ""
}

// mostTitle limits a title that TitleOf returns, in characters.
const mostTitle = 72

// TitleOf makes a title from a description: its first sentence, shortened at a word.
// It returns "" if the description has no visible character.
func TitleOf(text string) string {
	title := sentence(FirstLine(paragraph(strings.ToValidUTF8(text, "\uFFFD"))))
	if runes := []rune(title); len(runes) > mostTitle {
		title = string(runes[:mostTitle-1])
		if i := strings.LastIndexByte(title, ' '); i > mostTitle/2 {
			title = title[:i]
		}
		title = strings.TrimRight(title, " ,;:-") + "…"
	}
	if !Visible(title) {
		return ""
	}
	return title
}

// paragraph returns the first heading or paragraph of a text as one line, without
// the marks of Markdown.
func paragraph(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		bare := strings.TrimSpace(strings.TrimLeft(line, "#>*-+= "))
		if len(words) > 0 && (line == "" || bare != line) {
			break // the next paragraph, heading or element of a list
		}
		if !Visible(bare) {
			continue
		}
		if words = append(words, bare); strings.HasPrefix(line, "#") {
			break
		}
	}
	return strings.Join(words, " ")
}

// sentence returns the first sentence of a line, without its full stop. A stop after
// an abbreviation such as "e.g." does not end a sentence.
func sentence(line string) string {
	for i := 1; i < len(line); i++ {
		ends := i+1 == len(line) || line[i+1] == ' '
		if !ends || !strings.ContainsRune(".!?", rune(line[i])) {
			continue
		}
		word := line[strings.LastIndexByte(line[:i], ' ')+1 : i]
		switch {
		case line[i] != '.':
			return line[:i+1]
		case i+1 == len(line), !strings.Contains(word, ".") && len(word) > 1:
			return strings.TrimRight(line[:i], ".")
		}
	}
	return line
}
