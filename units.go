package coppice

import (
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that is written as people write it: 90s, 30m, 4h,
// 14d.
type Duration time.Duration

// D returns the duration as a time.Duration.
func (d Duration) D() time.Duration { return time.Duration(d) }

// MarshalText writes the shortest form.
func (d Duration) MarshalText() ([]byte, error) {
	t := time.Duration(d)
	if t != 0 && t%(24*time.Hour) == 0 {
		return append(strconv.AppendInt(nil, int64(t/(24*time.Hour)), 10), 'd'), nil
	}
	s := t.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return []byte(s), nil
}

// UnmarshalText reads the form of MarshalText, and any Go duration.
func (d *Duration) UnmarshalText(b []byte) error {
	s := string(b)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 36500 {
			return Errorf(EInvalid, "%s is not a valid duration", Quote(s)).WithFix("write it as 90s, 30m, 4h or 14d")
		}
		*d = Duration(time.Duration(n) * 24 * time.Hour)
		return nil
	}
	t, err := time.ParseDuration(s)
	if err != nil || t < 0 {
		return Errorf(EInvalid, "%s is not a valid duration", Quote(s)).WithFix("write it as 90s, 30m, 4h or 14d")
	}
	*d = Duration(t)
	return nil
}

// Percent is a share, written as 80%.
type Percent int

// MarshalText writes it with the percent sign.
func (p Percent) MarshalText() ([]byte, error) { return []byte(strconv.Itoa(int(p)) + "%"), nil }

// UnmarshalText reads 80 or 80%.
func (p *Percent) UnmarshalText(b []byte) error {
	n, err := strconv.Atoi(strings.TrimSuffix(string(b), "%"))
	if err != nil || n < 1 || n > 100 {
		return Errorf(EInvalid, "%s is not a valid percentage", Quote(string(b))).WithFix("write it as 80%%, from 1%% to 100%%")
	}
	*p = Percent(n)
	return nil
}
