package api

import (
	"fmt"
	"unicode/utf8"
)

// Limits of the logs of checks and the evidence of landings in a TaskDetail, in
// bytes. The newest come first. Separate routes serve the whole texts.
const (
	MostText  = 16 << 10  // of one
	MostTexts = 256 << 10 // of all checks, and of all landings
)

// CheckPath returns the path of the whole log of a check, below /api/v1.
func CheckPath(task string, check int64) string {
	return fmt.Sprintf("/tasks/%s/checks/%d/log", task, check)
}

// EvidencePath returns the path of the whole evidence of a landing, below
// /api/v1.
func EvidencePath(task string, landing int64) string {
	return fmt.Sprintf("/tasks/%s/landings/%d/evidence", task, landing)
}

// CutText keeps the start and the end of a text that is longer than most bytes.
// In between it says where the whole text is served.
func CutText(text string, most int, path string) string {
	if len(text) <= most {
		return text
	}
	head, tail := most/2, len(text)-most/2
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[... %d bytes left out; the whole text: /api/v1%s ...]\n%s", text[:head], tail-head, path, text[tail:])
}
