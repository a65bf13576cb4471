package http

import (
	"maps"
	"slices"
	"sync"

	"coppice"
	"coppice/store"
)

// recentEvents is how many of a session's newest events are searched for something
// that it said or did.
const recentEvents = 12

// lines caches the line of each live session, with the cursor of the output
// that it was found in. A session without new output is not read again.
type lines struct {
	mu sync.Mutex
	of map[int64]line
}

type line struct {
	cursor int64
	text   string
}

// maxLines limits the cached lines. A session whose line was dropped is read
// again.
const maxLines = 1024

// says returns what each session said or did last, in one line: its final
// message if it has ended.
func (l *lines) says(r store.Reader, sessions []coppice.Session) (map[int64]string, error) {
	cursors := make(map[int64]int64, len(sessions))
	for _, s := range sessions {
		if s.State.Live() {
			cursors[s.ID] = s.Cursor
		}
	}
	found, err := l.live(r, cursors)
	for _, s := range sessions {
		if err == nil && !s.State.Live() {
			found[s.ID] = coppice.FirstLine(s.Summary)
		}
	}
	return found, err
}

// live returns the lines of live sessions, which are given with their cursors.
func (l *lines) live(r store.Reader, cursors map[int64]int64) (map[int64]string, error) {
	found, wrote := make(map[int64]string, len(cursors)), map[int64]int64{}
	l.mu.Lock()
	for id, cursor := range cursors {
		if known, ok := l.of[id]; ok && known.cursor == cursor {
			found[id] = known.text
		} else {
			wrote[id] = cursor
		}
	}
	l.mu.Unlock()
	for silent, most := slices.Collect(maps.Keys(wrote)), 1; len(silent) > 0; most = recentEvents { // the last event usually has a line
		pieces, err := r.Outputs.LastOfEach(silent, most, coppice.OutputEvent)
		if err != nil {
			return nil, err
		}
		for id, list := range pieces {
			found[id] = lastLine(list)
		}
		if most == recentEvents {
			break
		}
		silent = slices.DeleteFunc(silent, func(id int64) bool { return found[id] != "" })
	}
	l.keep(wrote, found)
	return found, nil
}

// lastLine returns the last line in pieces of output.
func lastLine(pieces []coppice.Output) string {
	for _, p := range slices.Backward(pieces) {
		if said, ok := coppice.ReadAgentEvent(p.Data); ok && said.Line() != "" {
			return said.Line()
		}
	}
	return ""
}

func (l *lines) keep(cursors map[int64]int64, found map[int64]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.of)+len(cursors) > maxLines || l.of == nil {
		l.of = map[int64]line{}
	}
	for id, cursor := range cursors {
		l.of[id] = line{cursor, found[id]}
	}
}

// The results of a task's newest candidate.
const (
	proofConflict = "conflict"      // it does not merge with the base
	proofFailed   = "checks failed" // on the merged tree
	proofRefused  = "not verified"  // a verifier refused it
	proofPassed   = "checks passed"
	proofVerified = "verified"
)

// proven reports whether a result is good.
func proven(proof string) bool { return proof == proofPassed || proof == proofVerified }

// proof returns the result of a candidate, as far as is known.
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
