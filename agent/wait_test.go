package agent

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
)

func TestWait(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"":                                      0,
		"Rate limited, try again in 90 seconds": 90 * time.Second,
		"Please try again in 6m0s. Visit https://example.org": 6 * time.Minute,
		"Please try again in 1.5s":                            1500 * time.Millisecond,
		"try again in 20ms":                                   20 * time.Millisecond,
		"quota. Please retry in 34.07s.":                      34070 * time.Millisecond,
		"Suggested retry after 18000s.]":                      5 * time.Hour,
		"Try again in 5 days 3 hours 2 minutes.":              123*time.Hour + 2*time.Minute,
		"limit resets in 2h 30m":                              150 * time.Minute,
		"wait for 1 hour and 5 min":                           65 * time.Minute,
		"Retry-After: 30":                                     0, // of what?
		"Retry-After: 30s":                                    30 * time.Second,
		"try again in a moment":                               0,
		"try again in 5 months":                               0,
		"retry 3 times":                                       0,
		"I will retry 3 steps":                                0,
		"exceeded retry limit, last status: 429":              0,
		"try again in 999999999 days":                         mostWait,
	} {
		if got := Wait(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		want := time.Duration(rapid.Int64Range(1, int64(mostWait/time.Millisecond)).Draw(rt, "ms")) * time.Millisecond
		text := fmt.Sprintf("You are limited. Please try again in %s.", want)
		if got := Wait(text); got.Round(time.Millisecond) != want {
			rt.Fatalf("%q: %s", text, got)
		}
	})
}

func TestUntil(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC)
	limit := coppice.Failf(coppice.ClassRateLimit, "try again in 1m", "")
	if f := Until(limit, now); !f.RetryAt.Equal(now.Add(time.Minute)) || !limit.RetryAt.IsZero() {
		t.Errorf("%+v of %+v", f, limit)
	}
	timed := &coppice.Failure{Class: coppice.ClassRateLimit, Text: "try again in 1m", RetryAt: now}
	for _, f := range []*coppice.Failure{nil, timed, coppice.Failf(coppice.ClassAuth, "try again in 1m", ""), coppice.Failf(coppice.ClassRateLimit, "later", "")} {
		if got := Until(f, now); got != f {
			t.Errorf("%+v became %+v", f, got)
		}
	}
}
