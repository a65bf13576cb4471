package coppice_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"coppice"
)

func TestHours(t *testing.T) {
	t.Parallel()
	at := func(hour, minute int) time.Time { return time.Date(2026, 3, 1, hour, minute, 59, 0, time.UTC) }
	for text, c := range map[string]struct{ in, out []time.Time }{
		"08:00-18:00": {[]time.Time{at(8, 0), at(17, 59)}, []time.Time{at(7, 59), at(18, 0), at(0, 0)}},
		"22:00-06:30": {[]time.Time{at(22, 0), at(23, 59), at(0, 0), at(6, 29)}, []time.Time{at(6, 30), at(21, 59)}},
		"18:00-24:00": {[]time.Time{at(18, 0), at(23, 59)}, []time.Time{at(0, 0), at(17, 59)}},
	} {
		h, err := coppice.ParseHours(text)
		if err != nil || h.String() != text {
			t.Errorf("%s: %v, %v", text, h, err)
		}
		for _, in := range c.in {
			if !h.Has(in) {
				t.Errorf("%s does not have %s", text, in)
			}
		}
		for _, out := range c.out {
			if h.Has(out) {
				t.Errorf("%s has %s", text, out)
			}
		}
	}
	for _, text := range []string{"", "8-18", "08:00", "08:00-", "08:00-08:00", "24:00-08:00", "25:00-08:00", "08:60-09:00", "08:00-18:00 ", "-08:00-18:00", "8:00-18:00"} {
		if h, err := coppice.ParseHours(text); err == nil {
			t.Errorf("%q is %v", text, h)
		}
	}
}

// The documentation says of each kind how a message that is sent again is recognized.
func TestRepeatsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/notifications.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range coppice.NotifyKinds {
		row := regexp.MustCompile("(?m)^\\| \\[`" + k.Name + "`\\].* \\| ([^|]*) \\|$").FindSubmatch(text)
		if row == nil {
			t.Errorf("%s has no row", k.Name)
			continue
		}
		seen := strings.Contains(string(row[1]), "the mark at the end") || strings.Contains(string(row[1]), "in the last line")
		if cell := string(row[1]); cell == "" || seen != (k.Repeats == coppice.RepeatsByText) || k.Repeats != coppice.RepeatsByText && k.Repeats != coppice.RepeatsByID {
			t.Errorf("%s: %q, %q", k.Name, k.Repeats, cell)
		}
	}
}

// A kind has the fields that it needs in any form, that it allows, and that all have.
func TestFieldsOfNotifiers(t *testing.T) {
	t.Parallel()
	for _, k := range coppice.NotifyKinds {
		fields := strings.Join(k.Fields(), " ")
		want, known := map[string]string{"desktop": "timeout", "slack": "url token to timeout", "telegram": "token to url timeout", "program": "run timeout"}[k.Name]
		if known && fields != want || !strings.HasSuffix(fields, "timeout") {
			t.Errorf("%s has %s, want %s", k.Name, fields, want)
		}
	}
}
