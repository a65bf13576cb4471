package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"coppice"
)

// At is the place of a problem in a file. Every error that concerns a place
// wraps it, for callers that show the place.
type At struct {
	File         string
	Line, Column int    // from 1; the column counts characters
	Key          string // of a refused change: the key at the place, such as tracks[1].name
}

func (a *At) Error() string { return fmt.Sprintf("%s:%d:%d", a.File, a.Line, a.Column) }

// maxShown is the length of a line that an error shows.
const maxShown = 100

// problem makes the error for a place: file, line and column, the problem, the
// line itself with a mark below the place, and the fix.
func problem(file string, source []byte, line, column int, cause, fix string) *coppice.Error {
	at := &At{File: file, Line: max(line, 1), Column: max(column, 1)}
	text := lineOf(source, at.Line)
	if n := utf8.RuneCountInString(text); at.Column > n+1 {
		at.Column = n + 1
	}
	shown, mark := text, at.Column
	if runes := []rune(text); len(runes) > maxShown {
		from := min(max(0, at.Column-maxShown/2), len(runes)-maxShown)
		shown, mark = string(runes[from:from+maxShown]), at.Column-from
	}
	shown = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r == 0x7f {
			return ' '
		}
		return r
	}, shown)
	number := fmt.Sprint(at.Line)
	cause = fmt.Sprintf("%s: %s\n  %s | %s\n  %s | %s^", at.Error(), cause,
		number, shown, strings.Repeat(" ", len(number)), strings.Repeat(" ", mark-1))
	return &coppice.Error{Code: coppice.EInvalid, Cause: cause, Fix: fix, Err: at}
}

func lineOf(source []byte, n int) string {
	for range n - 1 {
		_, rest, ok := bytes.Cut(source, []byte("\n"))
		if !ok {
			return ""
		}
		source = rest
	}
	line, _, _ := bytes.Cut(source, []byte("\n"))
	return strings.ToValidUTF8(strings.TrimSuffix(string(line), "\r"), "\uFFFD")
}

// list joins names with commas.
func list(names []string) string { return strings.Join(names, ", ") }
