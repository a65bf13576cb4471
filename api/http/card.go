package http

import (
	"coppice"
	"coppice/store"
)

// lately is how many of a session's newest events are looked at for something
// that it said or did.
const lately = 12

// says returns in a line what each session said or did last: its last words when
// it has ended.
func says(r store.Reader, sessions []coppice.Session) (map[int64]string, error) {
	lines := make(map[int64]string, len(sessions))
	var live []int64
	for _, s := range sessions {
		if s.State.Live() {
			live = append(live, s.ID)
		} else {
			lines[s.ID] = coppice.FirstLine(s.Summary)
		}
	}
	pieces, err := r.Outputs.LastOfEach(live, lately, coppice.OutputEvent)
	for id, list := range pieces {
		for _, p := range list {
			if said, ok := coppice.ReadSaid(p.Data); ok && said.Line() != "" {
				lines[id] = said.Line()
			}
		}
	}
	return lines, err
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
