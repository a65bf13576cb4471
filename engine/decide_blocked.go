package engine

import (
	"time"

	"coppice"
)

// waitForBlock makes a landing wait whose push or move was blocked. If a person
// has to act, the queue gets a need, and the landing waits for that.
func waitForBlock(v *View, l coppice.Landing, blocked string, n *coppice.Need) *Decision {
	l.Waits = blocked
	d := &Decision{Kind: coppice.EventLandingWaits, Landing: &l}
	if n != nil && (n.Kind == coppice.NeedCheckout || n.Kind == coppice.NeedGit) {
		need := *n
		need.Since = v.Now
		if need.Text == "" {
			need.Text = blocked
		}
		l.Waits = need.Text
		d.need, d.Data = &need, map[string]any{"need": need.Kind, "paths": need.Paths}
	}
	d.Reason = l.Waits
	if v.asked(coppice.VerbRetry) != nil { // something changed during the step
		l.RetryAt = v.Now
		return d
	}
	l.Tries++
	l.RetryAt = v.Now.Add(blockedPause(v, l.Tries))
	return d
}

// blockedPause returns how long a landing waits before its move is retried
// without a known change.
func blockedPause(v *View, tries int) time.Duration {
	first := v.Pause
	if first == 0 {
		first = 2 * time.Second
	}
	return doubled(first, tries, max(first, time.Minute))
}
