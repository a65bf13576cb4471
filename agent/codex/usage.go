package codex

import (
	"encoding/json"
	"strings"
	"time"

	"coppice"
	"coppice/agent"
)

// tokens counts what the model read and wrote.
type tokens struct {
	Input      int64 `json:"inputTokens"` // cached ones included
	Cached     int64 `json:"cachedInputTokens"`
	CacheWrite int64 `json:"cacheWriteInputTokens"`
	Output     int64 `json:"outputTokens"`
}

func (t tokens) usage() coppice.Usage {
	return coppice.Usage{
		InputTokens: count(count(t.Input) - count(t.Cached) - count(t.CacheWrite)), OutputTokens: count(t.Output),
		CacheRead: count(t.Cached), CacheWrite: count(t.CacheWrite),
	}
}

// count keeps what an agent tells within reason.
func count(n int64) int64 { return min(max(n, 0), 1<<48) }

// since is what was used between two totals.
func since(before, now coppice.Usage) coppice.Usage {
	return coppice.Usage{
		InputTokens:  max(now.InputTokens-before.InputTokens, 0),
		OutputTokens: max(now.OutputTokens-before.OutputTokens, 0),
		CacheRead:    max(now.CacheRead-before.CacheRead, 0),
		CacheWrite:   max(now.CacheWrite-before.CacheWrite, 0),
	}
}

// usageNews turns a thread's total into what was used since the last one. A
// total that belongs to a turn of an earlier run is where this one begins. Of a
// thread of which nothing is known before, the latest request tells.
func (d *driver) usageNews(p packet) {
	var n struct {
		Thread string `json:"threadId"`
		Turn   string `json:"turnId"`
		Usage  struct {
			Total tokens `json:"total"`
			Last  tokens `json:"last"`
		} `json:"tokenUsage"`
	}
	if json.Unmarshal(p.Params, &n) != nil || n.Thread == "" || d.phase == opening {
		return
	}
	now := n.Usage.Total.usage()
	before, known := d.totals[n.Thread]
	d.totals[n.Thread] = now
	if n.Thread == d.conversation && !d.turns[n.Turn] {
		return
	}
	if !known {
		before = since(n.Usage.Last.usage(), now)
	}
	delta := since(before, now)
	if delta == (coppice.Usage{}) {
		return
	}
	d.usage = d.usage.Add(delta)
	d.emit(agent.Event{Kind: agent.KindUsage, Usage: &delta})
}

// limit is a limit of the account that was reached.
type limit struct {
	text  string
	until time.Time
}

type window struct {
	Used   float64 `json:"usedPercent"`
	Resets float64 `json:"resetsAt"`
}

// limitNews notes that the account's limit is reached. The agent also tells
// while it is far away, which is no news.
func (d *driver) limitNews(p packet) {
	var n struct {
		Limits struct {
			Primary   *window `json:"primary"`
			Secondary *window `json:"secondary"`
			Spend     *window `json:"individualLimit"`
			Spent     bool    `json:"spendControlReached"`
			Reached   string  `json:"rateLimitReachedType"`
			Credits   *struct {
				Has       bool `json:"hasCredits"`
				Unlimited bool `json:"unlimited"`
			} `json:"credits"`
		} `json:"rateLimits"`
	}
	if json.Unmarshal(p.Params, &n) != nil {
		return
	}
	l := n.Limits
	var now limit
	for _, w := range []*window{l.Primary, l.Secondary} {
		if w != nil && w.Used >= 100 {
			now.text = "the account's usage limit is reached"
			if t := unix(w.Resets); t.After(now.until) {
				now.until = t
			}
		}
	}
	if c := l.Credits; c != nil && (c.Has || c.Unlimited) {
		now = limit{} // they are used instead
	}
	if l.Spent {
		now.text = "the account's spending limit is reached"
		if l.Spend != nil {
			now.until = unix(l.Spend.Resets)
		}
	}
	if l.Reached != "" {
		now.text = "the account's limit is reached: " + strings.ReplaceAll(clip(l.Reached), "_", " ")
		if l.Primary != nil && now.until.IsZero() {
			now.until = unix(l.Primary.Resets)
		}
	}
	if now != d.limit && now.text != "" {
		d.emit(agent.Event{Kind: agent.KindLimit, Until: now.until, Text: now.text})
	}
	d.limit = now
}

// unix is a moment told in seconds; the zero time for one that cannot be.
func unix(sec float64) time.Time {
	if !(sec > 0 && sec < 1<<36) {
		return time.Time{}
	}
	return time.Unix(int64(sec), 0).UTC()
}
