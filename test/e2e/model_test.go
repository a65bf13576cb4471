//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// An agent whose model is limited continues with another of its models, in the
// same conversation, and lands; the limit is listed for the first choice only. Once
// the other one is limited too, what is new waits for either, and says so.
func TestAnotherModelTakesTheWorkOver(t *testing.T) {
	t.Parallel()
	policy := strings.Replace(policy, "agent: {use: scripted}", `agent: {use: scripted, model: big, fallback: ["scripted:x/small:1"]}`, 1)
	w := newWorld(t, files{"coppice.yaml": policy, ".coppice/scripted.yaml": `cases:
  - {match: 'Begin', session: 1, steps: [{write: {path: half.txt, content: "half\n"}}, {fail: {class: rate_limit, text: the big one is used up, retry_in: 24h}}]}
  - {match: 'the big one is used up', session: 2, steps: [{run: test -e half.txt}, {write: {path: whole.txt, content: "whole\n"}}]}
  - {match: 'Again', steps: [{fail: {class: rate_limit, text: the small one as well, retry_in: 24h}}]}
`})
	w.serve()
	w.cli("project", "add")
	first := w.new("Begin")
	d := w.landed(first)[0]
	if len(d.History) != 2 {
		t.Fatal(w.story(first))
	}
	was, now := d.History[0], d.History[1]
	if was.Agent != "scripted" || was.Model != "big" || now.Agent != "scripted" || now.Model != "x/small:1" {
		t.Errorf("%s with %s, then %s with %s", was.Agent, was.Model, now.Agent, now.Model)
	}
	if now.Resume == "" || now.Resume != was.Conversation {
		t.Errorf("it continued %q, not %q", now.Resume, was.Conversation)
	}
	w.wantOnBase("half.txt", "half")
	w.wantOnBase("whole.txt", "whole")
	limits := func() map[string]api.Limit {
		t.Helper()
		out := map[string]api.Limit{}
		for _, l := range decode[api.LimitList](t, w.cli("limits", "--json")).Limits {
			out[l.Agent] = l
		}
		return out
	}
	if l := limits(); len(l) != 1 || l["scripted"].Class != coppice.ClassRateLimit || l["scripted"].Text != "the big one is used up" {
		t.Errorf("limits %+v", l)
	}
	second := w.new("Again")
	w.await(second, "to wait for both", func(d api.TaskDetail) bool { return len(d.History) == 1 && d.Status == coppice.StatusWaiting })
	if l := limits(); len(l) != 2 || len(l["scripted:x/small:1"].Tasks) != 1 || l["scripted:x/small:1"].Tasks[0] != second {
		t.Errorf("limits %+v", l)
	}
	if x := w.task(second); x.History[0].Model != "x/small:1" || !strings.Contains(x.Reason, "scripted:x/small:1 is limited until") {
		t.Errorf("%s after %+v", x.Reason, x.History[0])
	}
	if text := w.cli("limits"); !strings.Contains(text, "scripted:x/small:1  rate_limit, until ") {
		t.Errorf("limits are listed as\n%s", text)
	}
	if text := w.cli("limits", "clear", "scripted:x/small:1"); text != "scripted:x/small:1 can be used again\n" {
		t.Errorf("it says %q", text)
	}
	w.await(second, "another session", func(d api.TaskDetail) bool { return len(d.History) == 2 })
}
