package coppice

import (
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Day returns the UTC date of a time, as in 2026-03-04. A day of spending starts
// at midnight UTC.
func Day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// NextDay returns the midnight UTC after a time.
func NextDay(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }

// USD is an amount of money in US dollars, written 5, 2.50 USD or $5.
type USD float64

// MaxUSD is the largest amount that people can write.
const MaxUSD USD = 1e6

var usdRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\$?\s*([0-9]+(?:\.[0-9]+)?)\s*(?:USD)?\s*$`)
})

// ParseUSD reads an amount as people write it: plain decimal digits, at most
// MaxUSD. It is the only parser of amounts.
func ParseUSD(s string) (USD, error) {
	if m := usdRE().FindStringSubmatch(s); m != nil {
		if f, err := strconv.ParseFloat(m[1], 64); err == nil && USD(f).Valid("") == nil {
			return USD(f), nil
		}
	}
	return 0, Errorf(EInvalid, "%s is not a valid amount of money", Quote(s)).WithFix(usdFix, float64(MaxUSD))
}

const usdFix = "write dollars from 0 to %.0f, such as 5 or 2.50 USD"

// Valid checks that an amount is a number from 0 to MaxUSD.
func (u USD) Valid(field string) error {
	if !(u >= 0 && u <= MaxUSD) { // false for NaN too
		return Errorf(EInvalid, "%g USD is not a valid amount of money", float64(u)).WithFix(usdFix, float64(MaxUSD)).WithField(field)
	}
	return nil
}

// MarshalText writes an amount as a person would.
func (u USD) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatFloat(float64(u), 'f', -1, 64) + " USD"), nil
}

// UnmarshalText reads an amount.
func (u *USD) UnmarshalText(b []byte) error {
	got, err := ParseUSD(string(b))
	if err == nil {
		*u = got
	}
	return err
}

// Price is what a model costs: dollars for a million tokens. Without a price for
// the cache, the price of input applies.
type Price struct {
	Input      USD `json:"input" yaml:"input"`
	Output     USD `json:"output" yaml:"output"`
	CacheRead  USD `json:"cache_read,omitempty" yaml:"cache_read"`   // input that the vendor had cached
	CacheWrite USD `json:"cache_write,omitempty" yaml:"cache_write"` // input that the vendor caches
}

// Cost returns the cost of the tokens in dollars.
func (p Price) Cost(u Usage) float64 {
	or := func(price USD) float64 {
		if price == 0 {
			price = p.Input
		}
		return float64(price)
	}
	return (float64(p.Input)*float64(u.InputTokens) + float64(p.Output)*float64(u.OutputTokens) +
		or(p.CacheRead)*float64(u.CacheRead) + or(p.CacheWrite)*float64(u.CacheWrite)) / 1e6
}
