package http

import (
	"math"

	"coppice"
	"coppice/store"
)

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
		return coppice.FirstLine(s.Summary), nil
	}
	pieces, err := r.Outputs.Before(s.ID, math.MaxInt64, lately, coppice.OutputEvent)
	if err != nil {
		return "", err
	}
	for i := len(pieces) - 1; i >= 0; i-- {
		if said, ok := coppice.ReadSaid(pieces[i].Data); ok && said.Line() != "" {
			return said.Line(), nil
		}
	}
	return "", nil
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
