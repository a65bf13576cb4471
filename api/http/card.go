package http

import (
	"encoding/json"
	"math"
	"strings"
	"unicode"

	"coppice"
	"coppice/store"
)

// mostSaid bounds what is told of a session in a line.
const mostSaid = 160

// lately is how many of a session's newest events are looked at for something
// that it said or did.
const lately = 12

// says tells in a line what a session said or did last: its last words when it
// has ended.
func says(r store.Reader, s *coppice.Session) (string, error) {
	if s == nil {
		return "", nil
	}
	if !s.State.Live() {
		return oneLine(s.Summary), nil
	}
	pieces, err := r.OutputBefore(s.ID, math.MaxInt64, lately, coppice.OutputEvent)
	if err != nil {
		return "", err
	}
	for i := len(pieces) - 1; i >= 0; i-- {
		var e struct { // of what the agent room calls an event
			Kind, Text, Name string
			Paths            []string
		}
		if json.Unmarshal(pieces[i].Data, &e) != nil {
			continue
		}
		switch e.Kind {
		case "text", "plan":
			if said := oneLine(e.Text); said != "" {
				return said, nil
			}
		case "tool":
			return oneLine(strings.Join(append([]string{e.Name}, e.Paths...), " ")), nil
		case "thinking":
			return "thinking", nil
		}
	}
	return "", nil
}

// oneLine is the first line of a text that holds anything, cut where it is long.
func oneLine(s string) string {
	for line := range strings.Lines(s) {
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
		}), " ")
		if runes := []rune(line); len(runes) > mostSaid {
			line = string(runes[:mostSaid-1]) + "…"
		}
		if line != "" {
			return line
		}
	}
	return ""
}

// What became of a task's newest candidate.
const (
	proofConflict = "conflict"      // it does not merge with the base
	proofFailed   = "checks failed" // on the merged tree
	proofRefused  = "not verified"  // a verifier found something wrong
	proofPassed   = "checks passed"
	proofVerified = "verified"
)

// proof tells what became of a candidate, as far as is known.
func proof(l *coppice.Landing) string {
	switch {
	case l == nil:
		return ""
	case l.Outcome == coppice.LandingConflict:
		return proofConflict
	case l.Outcome == coppice.LandingRefused && l.Green:
		return proofRefused
	case l.Outcome == coppice.LandingRefused:
		return proofFailed
	case l.Verified:
		return proofVerified
	case l.Green:
		return proofPassed
	}
	return ""
}
