package forge_test

import (
	"context"
	"strings"
	"testing"

	"coppice"
	"coppice/forge"
)

// A secret at the place where a text is shortened is masked as a whole.
func TestMaskedBeforeShortened(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	long := func(n int) string { return strings.Repeat("x", n-len(secret)/2) + secret + strings.Repeat("y", n) }
	f := &fake{read: func(context.Context, int) (coppice.PullRead, error) {
		return coppice.PullRead{
			State: coppice.PullOpen, Labels: []string{long(1 << 10)}, Comments: []coppice.PullComment{{Text: long(coppice.MaxPullComment)}},
			Checks: []coppice.PullCheck{{Name: "build", State: coppice.CIFailed, Text: long(160), Log: long(coppice.MaxPullLog)}},
		}, nil
	}}
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
	got, err := forge.Read(t.Context(), forge.Masked(f, mask), coppice.ForgeReadSpec{Pulls: []coppice.PullWant{{Number: 1, Whole: true}}})
	if text := string(coppice.Raw(got)); err != nil || len(got.Pulls) != 1 || strings.Contains(text, secret[:4]) || strings.Contains(text, secret[len(secret)-4:]) {
		t.Errorf("%v: a part of the secret is in %s", err, text)
	}
}
