package forge

import (
	"context"

	"coppice"
)

// Masked returns a forge that masks the secrets in what it reports. They are masked
// before anybody shortens the texts: nobody recognizes a part of a secret.
func Masked(f Forge, mask func(string) string) Forge { return masked{f, mask} }

type masked struct {
	Forge
	mask func(string) string
}

// Read implements Forge.
func (m masked) Read(ctx context.Context, number int) (coppice.PullRead, error) {
	r, err := m.Forge.Read(ctx, number)
	r.EachText(m.mask)
	return r, err
}

// MaskedTracker returns a tracker that masks the secrets in the issues that it reports.
func MaskedTracker(t Tracker, mask func(string) string) Tracker { return maskedTracker{t, mask} }

type maskedTracker struct {
	Tracker
	mask func(string) string
}

// Issue implements Tracker. What Issues returns is not reported.
func (m maskedTracker) Issue(ctx context.Context, id string) (coppice.IssueRead, error) {
	r, err := m.Tracker.Issue(ctx, id)
	r.EachText(m.mask)
	return r, err
}
