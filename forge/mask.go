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
