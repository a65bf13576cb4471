package forge

import "coppice"

// CIOf returns the result of all checks together.
func CIOf(checks []coppice.PullCheck) coppice.CIState {
	state := coppice.CINone
	for _, c := range checks {
		switch c.State {
		case coppice.CIFailed:
			return coppice.CIFailed
		case coppice.CIPending:
			state = coppice.CIPending
		case coppice.CIPassed:
			if state == coppice.CINone {
				state = coppice.CIPassed
			}
		}
	}
	return state
}

// ReviewOf returns what the reviews decide, of comments with the oldest first. The
// newest decision of each person counts. The reviews of people without write access
// do not count: on a public forge, anybody can approve.
func ReviewOf(comments []coppice.PullComment) coppice.ReviewState {
	newest := map[string]coppice.ReviewState{}
	for _, c := range comments {
		if c.Review != coppice.ReviewNone && c.Writes {
			newest[c.Author] = c.Review
		}
	}
	state := coppice.ReviewNone
	for _, s := range newest {
		if s == coppice.ReviewChanges {
			return s
		}
		state = s
	}
	return state
}
