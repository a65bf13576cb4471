package codex

import (
	"encoding/json"
	"strings"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
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
		InputTokens: agent.Count(agent.Count(t.Input) - agent.Count(t.Cached) - agent.Count(t.CacheWrite)), OutputTokens: agent.Count(t.Output),
		CacheRead: agent.Count(t.Cached), CacheWrite: agent.Count(t.CacheWrite),
	}
}

// since returns what was used between two totals.
func since(before, now coppice.Usage) coppice.Usage {
	return coppice.Usage{
		InputTokens:  max(now.InputTokens-before.InputTokens, 0),
		OutputTokens: max(now.OutputTokens-before.OutputTokens, 0),
		CacheRead:    max(now.CacheRead-before.CacheRead, 0),
		CacheWrite:   max(now.CacheWrite-before.CacheWrite, 0),
	}
}

// usageNews turns a thread's total into the usage since the last one. The total
// of a turn of an earlier run is where this run starts. For a thread without a
// known total, the latest request counts.
func (d *driver) usageNews(p jsonrpc.Message) {
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
	d.Spend(since(before, now))
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

// limitNews records that the account's limit is reached. The agent also reports
// limits that are not reached, which are ignored.
func (d *driver) limitNews(p jsonrpc.Message) {
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
			if t := agent.Unix(w.Resets); t.After(now.until) {
				now.until = t
			}
		}
	}
	if c := l.Credits; c != nil && (c.Has || c.Unlimited) {
		now = limit{} // credits are used instead
	}
	if l.Spent {
		now.text = "the account's spending limit is reached"
		if l.Spend != nil {
			now.until = agent.Unix(l.Spend.Resets)
		}
	}
	if l.Reached != "" {
		now.text = "the account's limit is reached: " + strings.ReplaceAll(agent.Clip(l.Reached), "_", " ")
		if l.Primary != nil && now.until.IsZero() {
			now.until = agent.Unix(l.Primary.Resets)
		}
	}
	if now != d.limit && now.text != "" {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindLimit, Until: now.until, Text: now.text})
	}
	d.limit = now
}
