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
	state := coppice.ReviewNone
	for _, r := range coppice.Reviewers(comments) {
		switch {
		case r.Counts && r.Review == coppice.ReviewChanges:
			return r.Review
		case r.Counts:
			state = r.Review
		}
	}
	return state
}
