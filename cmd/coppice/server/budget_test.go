package server

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/verb"
)

// Sessions of an agent that reports only tokens count against the budget of the
// day: the session is stopped, and the project's tasks wait and say why. A larger
// budget lets them continue in the same conversation.
func TestADayHasABudget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	// It is noon tomorrow, so the day does not end while the test runs, and the
	// agent's output, which has the real time, does not count on another day.
	noon := coppice.NextDay(time.Now()).Add(12 * time.Hour)
	shift := time.Until(noon)
	b.cfg.Now = func() time.Time { return time.Now().Add(shift) }
	const policy = "base: main\nagent: {use: scripted}\nlimits: {memory: 100%}\nretry: {backoff: 100ms}\n"
	repo := b.repo(map[string]string{"coppice.yaml": policy + "budget: {day: 1 USD}\n", ".coppice/scripted.yaml": `cases:
  - {match: 'Add one', session: 1, steps: [{usage: {output_tokens: 150000}}, {wait_message: true}]}
  - {match: 'Add (one|two)', steps: [{write: {path: $1.txt, content: "$1\n"}}, {usage: {output_tokens: 1000}}]}
`})
	b.start()
	c, p := b.added(repo)
	create := func(title, model string) string {
		return b.create(c, p, coppice.NewTask{Title: title, Model: model}).Key
	}
	const reason = "the project has spent 1.50 of 1 USD today; continues at 00:00 UTC"
	waits := func(d api.TaskDetail) bool { return d.Reason == reason }
	ended := func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded }

	one := create("Add one", "gpt-6-sol")
	d := b.task(c, one, waits)
	s := d.History[0]
	if d.Status != coppice.StatusWaiting || s.Failure == nil || s.Failure.Class != coppice.ClassDayBudget || s.Budget != 1 || !s.Usage.Priced || !s.Usage.Estimated {
		t.Errorf("%s is %s; its session is %+v, want one that the budget of 1 USD stopped", one, d.Status, s)
	}
	two := create("Add two", "gpt-of-tomorrow")
	b.task(c, two, waits)
	b.write(filepath.Join(repo, "coppice.yaml"), policy+"budget: {day: 5 USD}\n")
	for _, key := range []string{one, two} {
		if d = b.task(c, key, ended); d.Outcome != coppice.OutcomeDone {
			t.Errorf("%s ended as %s: %v", key, d.Outcome, d.Failure)
		}
	}
	d, err := c.Task(b.ctx, one)
	b.must(err)
	if h := d.History; len(h) != 2 || h[1].Resume == "" || h[1].Resume != h[0].Conversation {
		t.Errorf("%s has the sessions %+v, want a second one that resumes the first", one, h)
	}
	u, err := c.Usage(b.ctx, client.UsageQuery{})
	b.must(err)
	if len(u.Budgets) != 1 || u.Budgets[0].DayUSD != 5 || math.Round(100*u.Budgets[0].Today) != 169 || !u.Total.Estimated {
		t.Errorf("the usage is %+v, want an estimate of 1.69 of 5 USD today", u)
	}
}

// The budget of an account in the user's config.yaml stops its sessions, and an edit
// of the file lets them continue. A task at its limit of turns waits for a person,
// who lands what it did.
func TestAccountsAndSessionsHaveLimits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	noon := coppice.NextDay(time.Now()).Add(12 * time.Hour)
	shift := time.Until(noon)
	b.cfg.Now = func() time.Time { return time.Now().Add(shift) }
	user := filepath.Join(b.dir, ".config", "coppice", "config.yaml")
	budget := func(usd string) {
		b.must(os.MkdirAll(filepath.Dir(user), 0o700))
		b.must(os.WriteFile(user+".new", []byte("budget: {accounts: {scripted: "+usd+"}}\n"), 0o600))
		b.must(os.Rename(user+".new", user))
	}
	budget("1 USD")
	repo := b.repo(map[string]string{
		"coppice.yaml": "base: main\nagent: {use: scripted, limits: {implement: {turns: 3}}}\nlimits: {memory: 100%}\n",
		".coppice/scripted.yaml": `cases:
  - {match: 'Add one', session: 1, steps: [{usage: {output_tokens: 150000}}, {wait_message: true}]}
  - {match: 'Add one', steps: [{write: {path: one.txt, content: "one\n"}}]}
  - {match: 'Add two', steps: [{write: {path: two.txt, content: "2\n"}}, {run: 'true'}, {run: 'true'}, {run: 'true'}, {hang: true}]}
`})
	b.start()
	c, p := b.added(repo)
	create := func(title, model string) string {
		return b.create(c, p, coppice.NewTask{Title: title, Model: model}).Key
	}
	ended := func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded }
	one := create("Add one", "gpt-6-sol")
	d := b.task(c, one, func(d api.TaskDetail) bool {
		return d.Reason == "scripted has spent 1.50 of 1 USD today; continues at 00:00 UTC"
	})
	if s := d.History[0]; s.Failure == nil || s.Failure.Class != coppice.ClassDayBudget || s.Budget != 1 {
		t.Errorf("its session is %+v, want one that the budget of 1 USD stopped", s)
	}
	budget("50 USD")
	if d = b.task(c, one, ended); d.Outcome != coppice.OutcomeDone {
		t.Errorf("%s ended as %s: %v", one, d.Outcome, d.Failure)
	}
	two := create("Add two", "")
	d = b.task(c, two, func(d api.TaskDetail) bool { return d.Need == coppice.InboxBudget })
	if s := d.History[0]; s.Failure == nil || s.Failure.Class != coppice.ClassLimit || d.Limits.Turns != 3 || !slices.Contains(d.Can, coppice.VerbLand) {
		t.Errorf("its session is %+v, its limits %+v; it can %v", s, d.Limits, d.Can)
	}
	_, err := c.Ask(b.ctx, two, coppice.VerbLand, verb.Request{})
	b.must(err)
	if d = b.task(c, two, ended); d.Outcome != coppice.OutcomeDone || d.Landed == "" || len(d.History) != 1 {
		t.Errorf("%s ended as %s after %d sessions: %v", two, d.Outcome, len(d.History), d.Failure)
	}
}

func (b *bundle) create(c *client.Client, p api.Project, n coppice.NewTask) api.Task {
	b.t.Helper()
	made, err := c.CreateTasks(b.ctx, p.Prefix, []coppice.NewTask{n})
	b.must(err)
	return made[0]
}

// task follows the log until a task is as f expects it.
func (b *bundle) task(c *client.Client, key string, f func(api.TaskDetail) bool) (d api.TaskDetail) {
	b.t.Helper()
	err := c.FollowEvents(b.ctx, client.EventQuery{}, func(api.Event) (err error) {
		if d, err = c.Task(b.ctx, key); err == nil && f(d) {
			return errSeen
		}
		return err
	}, nil)
	if !errors.Is(err, errSeen) {
		b.t.Fatalf("waiting for %s: %v; it is %s: %s", key, err, d.Status, d.Reason)
	}
	return d
}
