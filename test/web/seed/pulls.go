package seed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"coppice"
)

// longName has no place for a line break.
const longName = "an-incomprehensibly-long-name-without-any-break-in-it-that-goes-on-and-on"

// hostile is what somebody could write to attack the page or the agent.
const hostile = `<img src=x onerror="document.title='attacked'"> [click](javascript:alert(1)) <script>document.title='attacked'</script>`

// Pulls writes tasks with pull requests, as forges report them, and what reactions
// did: one request with as many checks and comments as Coppice keeps, on which a
// person has to decide; one that is approved and green; a draft; and a merged one.
func Pulls(ctx context.Context, path, prefix string, now time.Time) error {
	return open(ctx, path, prefix, func(p *past) error {
		err := p.request("Rename "+longName+" and everything that depends on it, in all packages, tests and documents", 1234, now, func(t *coppice.Task, r *coppice.Pull) {
			t.Attention = "CI failed: build; the rule acted 2 times, which is its limit"
			r.Report = largest(now)
			r.Blocked = "the base branch requires all conversations to be resolved"
			r.Escalate = &coppice.Escalate{Event: coppice.OnCIFailed, At: now, Text: "ci-failed: CI failed: build. The rule acted 2 times, which is its limit.\n" +
				"- send-to-agent, try 1 at 1111111: pushed 2222222\n- send-to-agent, try 2 at 2222222: no result yet\n"}
		})
		if err != nil {
			return err
		}
		for i := range 70 {
			if err := p.reacted(i, now.Add(time.Duration(i-70)*time.Minute)); err != nil {
				return err
			}
		}
		err = p.request("Approved and green", 12, now, func(_ *coppice.Task, r *coppice.Pull) {
			r.MergeBy, r.MergeHead = "person", r.Pushed
			r.Report.CI, r.Report.Review = coppice.CIPassed, coppice.ReviewApproved
			r.Report.Checks = []coppice.PullCheck{{Name: "build", State: coppice.CIPassed, URL: "https://forge.example/checks/1"}}
			r.Report.Comments = []coppice.PullComment{{ID: "review/1", Author: "ann", Writes: true, Review: coppice.ReviewApproved, At: now}}
		})
		if err != nil {
			return err
		}
		draft := p.request("A draft", 13, now, func(_ *coppice.Task, r *coppice.Pull) { r.Report.Draft, r.Report.CI = true, coppice.CIPending })
		merged := p.request("Merged on the forge", 5, now, func(t *coppice.Task, r *coppice.Pull) {
			t.Stage, t.Outcome, t.EndedAt, t.Landed = coppice.StageEnded, coppice.OutcomeDone, now, strings.Repeat("a", 40)
			r.EndedAt, r.Cleaned, r.Report.State, r.Report.CI = now, true, coppice.PullMerged, coppice.CIPassed
		})
		return errors.Join(draft, merged)
	})
}

// Passes lets CI pass for the pull request of a task, as a read of its forge would
// report it.
func Passes(ctx context.Context, path, prefix string, number int, now time.Time) error {
	return open(ctx, path, prefix, func(p *past) error {
		r, err := p.tx.Pulls.ByNumber(p.p.ID, number)
		if err != nil {
			return err
		}
		t, err := p.tx.Tasks.Get(r.TaskID)
		if err != nil {
			return err
		}
		r.Report.CI, r.Report.Checks = coppice.CIPassed, nil
		return errors.Join(p.tx.Pulls.Put(&r), p.say(now, coppice.EventPullCI, t, nil, "CI passed"))
	})
}

// request writes a task that waits for its pull request. Its landing is retried so late
// that the engine leaves it as it is.
func (p *past) request(title string, number int, now time.Time, change func(*coppice.Task, *coppice.Pull)) error {
	p.p.LastTask++
	head := fmt.Sprintf("%040x", number)
	t := coppice.Task{
		ProjectID: p.p.ID, Num: p.p.LastTask, Key: fmt.Sprintf("%s-%d", p.p.Prefix, p.p.LastTask), Title: title, Track: "main", Agent: "scripted",
		CreatedAt: now, CreatedBy: "ada", Stage: coppice.StagePull, StageAt: now,
	}
	t.Pull = true
	r := coppice.Pull{ProjectID: p.p.ID, Number: number, PullDetails: coppice.PullDetails{
		URL: fmt.Sprintf("https://forge.example/pulls/%d", number), Branch: "coppice/" + t.Key, Base: "main", CreatedAt: now, Pushed: head,
	}}
	r.Report = coppice.PullRead{Number: number, URL: r.URL, Title: title, Author: "coppice-bot", State: coppice.PullOpen, Branch: r.Branch, Head: head, Base: r.Base, UpdatedAt: now}
	change(&t, &r)
	if err := p.tx.Tasks.Put(&t); err != nil {
		return err
	}
	r.TaskID = t.ID
	p.made = append(p.made, t)
	if !t.Ended() {
		l := coppice.Landing{ProjectID: p.p.ID, TaskID: t.ID, CreatedAt: now, RetryAt: now.Add(1000 * time.Hour)}
		if err := p.tx.Landings.Put(&l); err != nil {
			return err
		}
	}
	return errors.Join(p.tx.Pulls.Put(&r), p.say(now, coppice.EventTaskCreated, t, nil, t.Title), p.say(now, coppice.EventPullOpened, t, nil, r.URL))
}

// largest is a report with as many checks and comments as Coppice keeps.
func largest(now time.Time) coppice.PullRead {
	r := coppice.PullRead{
		Number: 1234, Title: "Rename " + longName, Author: longName, State: coppice.PullOpen, Head: fmt.Sprintf("%040x", 1234), UpdatedAt: now, Conflicts: true,
		CI: coppice.CIFailed, Review: coppice.ReviewChanges, Labels: []string{"needs-tests", longName},
	}
	for i := range coppice.MaxPullChecks {
		c := coppice.PullCheck{Name: fmt.Sprintf("test (%d, %s)", i, longName), State: coppice.CIPassed, URL: fmt.Sprintf("https://forge.example/checks/%d", i)}
		switch {
		case i == 0:
			c = coppice.PullCheck{
				Name: "build", State: coppice.CIFailed, Text: "exit code 2: " + longName, URL: "javascript:document.title='attacked'",
				Log: "\x1b[31mmain.go:7: undefined: foo\x1b[0m\n" + hostile + "\n" + strings.Repeat(longName+" ", 90),
			}
		case i == 1:
			c.Name, c.State, c.Log = "lint", coppice.CIFailed, "1 finding\n"
		case i < 5:
			c.State = coppice.CIPending
		}
		r.Checks = append(r.Checks, c)
	}
	for i := range coppice.MaxPullComments {
		c := coppice.PullComment{
			ID: fmt.Sprintf("comment/%d", i), Author: []string{"ann", "bob", longName}[i%3], Bot: i%7 == 3, Writes: true, Resolved: i%5 == 4,
			Path: "src/" + longName + "/list.go", Line: 10 + i, Text: fmt.Sprintf("Comment %d: use `%s` here, **please**.\n\n- %s\n- and test it", i, longName, hostile), At: now.Add(-time.Hour),
		}
		switch i {
		case 0:
			c.ID, c.Path, c.Line, c.Review, c.Text = "review/1", "", 0, coppice.ReviewChanges, "Please rename it."
		case 1:
			c.ID, c.Path, c.Line, c.Review, c.Text = "review/2", "", 0, coppice.ReviewApproved, ""
		}
		r.Comments = append(r.Comments, c)
	}
	return r
}

// reacted writes an entry of the history of the last task: some did something, some
// did nothing, and the oldest belongs to no task.
func (p *past) reacted(i int, at time.Time) error {
	e := coppice.Reacted{ProjectID: p.p.ID, TaskID: p.made[len(p.made)-1].ID, Key: fmt.Sprintf("seed/%d", i), At: at}
	e.Event, e.Do, e.Text, e.Head, e.Try = coppice.OnCIFailed, coppice.ReactSend, "CI failed: build, "+longName, fmt.Sprintf("%040x", i+1), 1+i%2
	e.Message = "CI failed. Find the cause and fix it.\n\n" + hostile + "\n" + strings.Repeat(longName+" ", 40)
	switch {
	case i == 0:
		e.TaskID, e.Event, e.Do, e.Text, e.Head, e.Message, e.Try = 0, coppice.OnAllComplete, coppice.ReactRun, "all tasks have ended", "", "", 1
		e.Run = "./scripts/deploy.sh --" + longName
	case i == 69:
		e.Do, e.Why, e.Priority = coppice.ReactNotify, "the rule acted 2 times, which is its limit", coppice.PriorityAction
	case i%3 == 1:
		e.Event, e.Do, e.Text, e.Why = coppice.OnChanges, coppice.ReactNothing, "2 comments by ann", "its text comes from outside, and sessions do not run in a sandbox; to allow it, set trust: unsandboxed"
	case i%3 == 0:
		e.Pushed, e.EndedAt = fmt.Sprintf("%040x", i+2), at.Add(time.Minute)
		e.Result = "pushed " + e.Pushed[:7]
	}
	return p.tx.Reactions.Put(&e)
}
