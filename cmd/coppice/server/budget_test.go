package server

import (
	"errors"
	"math"
	"path/filepath"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
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
	c := b.client()
	p, err := c.AddProject(b.ctx, repo)
	b.must(err)
	create := func(title, model string) string {
		made, err := c.CreateTasks(b.ctx, p.Prefix, []coppice.NewTask{{Title: title, Model: model}})
		b.must(err)
		return made[0].Key
	}
	const reason = "the project has spent 1.50 of 1 USD today; goes on at 00:00 UTC"
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
	d, err = c.Task(b.ctx, one)
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

// task follows the log until a task is as f expects it.
func (b *bundle) task(c *client.Client, key string, f func(api.TaskDetail) bool) (d api.TaskDetail) {
	b.t.Helper()
	err := c.FollowEvents(b.ctx, client.EventQuery{}, func(coppice.Event) (err error) {
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
