package agent

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"coppice"
)

// spanRE matches a duration as services write it: 90s, 6m0s, 5 days 3 hours.
const spanRE = `\d{1,9}(?:\.\d{1,9})?\s*(?:milliseconds?|ms|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h|days?|d)`

// waitRE finds how long a service says to wait.
var waitRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:(?:try|available) again|retry(?:ing)?|resets?|wait)(?:[ -](?:in|after|for))?:? ?(?:about |around |another )?` +
		`((?:` + spanRE + `(?:,? and |[\s,]*))+)(\pL?)`)
})

var partRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(ms|mil|[smhd])`) })

// units are the units after the numbers, by their first letters.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "mil": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

// mostWait limits what is believed: no limit lasts longer.
const mostWait = 31 * 24 * time.Hour

// Wait returns how long a failure's text says to wait, such as "try again in
// 6m0s"; 0 if it does not say.
func Wait(text string) time.Duration {
	m := waitRE().FindStringSubmatch(text)
	if m == nil || m[2] != "" { // a letter after the unit makes it another word
		return 0
	}
	var sum float64
	for _, part := range partRE().FindAllStringSubmatch(m[1], -1) {
		n, _ := strconv.ParseFloat(part[1], 64) // digits
		sum += n * float64(units[strings.ToLower(part[2])])
	}
	return time.Duration(min(sum, float64(mostWait)))
}

// Until sets the time of a limit from its text, if it has none.
func Until(f *coppice.Failure, now time.Time) *coppice.Failure {
	if f == nil || !f.RetryAt.IsZero() || f.Class != coppice.ClassRateLimit && f.Class != coppice.ClassOverload {
		return f
	}
	wait := Wait(f.Text)
	if wait <= 0 {
		return f
	}
	c := *f
	c.RetryAt = now.Add(wait).UTC().Truncate(time.Millisecond)
	return &c
}
