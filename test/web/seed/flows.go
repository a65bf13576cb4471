package seed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"coppice"
)

const (
	milestones = 24
	sentence   = "Read " + longName + " and everything that depends on it, in all of the packages, tests and documents that mention it"
	markdown   = "# Why\n\nBecause **" + longName + "** is long.\n\n- one\n- `two " + longName + "`\n\n| a | " + longName + " |\n| --- | --- |\n| " + longName + " | b |\n\n```\ngo test ./" + longName + "\n```\n\n> quoted\n"
)

// step is a step of a flow that is written.
type step struct {
	key, title string
	answer     any // or Markdown
	failed     bool
}

// Flows writes a flow of each kind, as long as people can have them: many steps, long
// titles and times, Markdown, and documents with many versions. One of them failed.
func Flows(ctx context.Context, path, prefix string, now time.Time) error {
	return open(ctx, path, prefix, func(p *past) error {
		return errors.Join(p.goal(now), p.cycle(now), p.debate(now), p.batch(now))
	})
}

func (p *past) goal(now time.Time) error {
	var plan strings.Builder
	steps := []step{{key: "plan", title: "Plan"}}
	for n := range 56 {
		fmt.Fprintf(&plan, "- [x] t%d: %s (%d)\n  - description: %s\n  - after: %s\n", n, sentence, n, sentence, strings.TrimSuffix(fmt.Sprintf("t%d", n/2-1), "t-1"))
		steps = append(steps, step{key: fmt.Sprintf("w-t%d", n), title: fmt.Sprintf("%s (%d)", sentence, n), failed: n == 7})
	}
	for n := range 3 {
		steps = append(steps, step{key: fmt.Sprintf("verify-%d", n+1), title: "Verify the result", answer: map[string]any{"result": "has_issues", "issues": []string{sentence, longName}}})
	}
	return p.flow(coppice.FlowGoal, map[string]any{"plan": true, "agents": []string{"scripted", "scripted:" + longName}}, plan.String(), steps, now)
}

func (p *past) cycle(now time.Time) error {
	list := func(done int) string {
		var b strings.Builder
		for n := range milestones {
			box := " "
			if n < done {
				box = "x"
			}
			fmt.Fprintf(&b, "- [%s] M%d: %s\n", box, n+1, sentence)
		}
		return b.String()
	}
	steps := []step{{key: "assess", title: "Assess", answer: map[string]string{"plan": list(0), "contract": markdown, "notes": markdown}}}
	for n := range 29 {
		review := map[string]string{"plan": list(min(milestones, n)), "feedback": sentence + "\n\n" + markdown}
		steps = append(steps, step{key: fmt.Sprintf("c%d/review", n+1), title: "Review", answer: review}, step{key: fmt.Sprintf("c%d/implement", n+1), title: "Implement", failed: n == 3})
	}
	return p.flow(coppice.FlowCycle, map[string]any{"implementer": "scripted:" + longName, "reviewer": "scripted", "cycles": 30, "verify": markdown}, list(milestones-4), steps, now)
}

func (p *past) debate(now time.Time) error {
	var steps []step
	for n := range 60 {
		said := map[string]string{"verdict": []string{"agree", "disagree", "partial"}[n%3], "summary": sentence, "position": markdown, "changed": longName}
		steps = append(steps, step{key: fmt.Sprintf("l%d/r%d/%c", n/20+1, n%20/2, 'a'+n%2), title: "Debate", answer: said})
	}
	return p.flow(coppice.FlowDebate, map[string]any{"between": []string{"scripted", "scripted:" + longName}, "rounds": 10, "loops": 3}, "", steps, now)
}

func (p *past) batch(now time.Time) error {
	var tasks []map[string]any
	var steps []step
	for n := range 60 {
		title := fmt.Sprintf("%s (%d)", sentence, n)
		tasks = append(tasks, map[string]any{"title": title, "ref": fmt.Sprintf("r%d", n), "after": []string{fmt.Sprintf("r%d", n-1)}[:min(1, n%4)]})
		steps = append(steps, step{key: fmt.Sprint(n + 1), title: title, failed: n%9 == 8})
	}
	return p.flow(coppice.FlowBatch, map[string]any{"tasks": tasks}, "", steps, now)
}

// flow writes a flow that has ended, with its steps and documents.
func (p *past) flow(kind coppice.FlowKind, spec any, plan string, steps []step, now time.Time) error {
	const took = 6*time.Hour + 17*time.Minute
	start := now.Add(-time.Duration(len(steps)+1) * took)
	f, err := p.ended(sentence, start, now, func(t *coppice.Task) {
		t.Body = strings.Repeat(markdown, 4)
		t.Flow = &coppice.Flow{Kind: kind, Spec: coppice.Raw(spec), Branch: true, Note: sentence, Result: markdown, Dropped: now}
		t.Outcome, t.Failure = coppice.OutcomeFailed, &coppice.Failure{Class: coppice.ClassImplementation, Text: sentence, Fix: "read `" + longName + "`"}
	})
	if err != nil {
		return err
	}
	for n, s := range steps {
		at := start.Add(time.Duration(n) * took)
		t, err := p.ended(s.title, at, at.Add(took), func(t *coppice.Task) {
			t.Parent, t.Step, t.Body, t.Model = f.ID, &coppice.Step{Flow: f.ID, Key: s.key, Saw: map[string]int64{"plan": 3, "worklog/" + longName: 20}}, markdown, longName
			if s.failed {
				t.Outcome, t.Failure = coppice.OutcomeFailed, &coppice.Failure{Class: coppice.ClassImplementation, Text: sentence}
			}
		})
		if err != nil {
			return err
		}
		x := p.session(t, coppice.RoleImplement, at.Add(time.Hour), at.Add(took))
		x.Summary, x.Usage.CostUSD = sentence+"\n\n"+markdown, 12.34
		if s.answer != nil {
			value := coppice.Raw(s.answer)
			x.Answer = &coppice.Answer{Text: string(value), Value: json.RawMessage(value)}
		}
		if err := errors.Join(p.keep(t, x, nil, false), p.tx.Tasks.Put(t)); err != nil {
			return err
		}
	}
	return p.documents(f, plan, now)
}

// ended writes a task that has ended.
func (p *past) ended(title string, from, to time.Time, change func(*coppice.Task)) (*coppice.Task, error) {
	p.p.LastTask++
	t := coppice.Task{
		ProjectID: p.p.ID, Num: p.p.LastTask, Key: fmt.Sprintf("%s-%d", p.p.Prefix, p.p.LastTask), Title: title, Track: "main", Agent: "scripted", CreatedAt: from, CreatedBy: "ada",
		Stage: coppice.StageEnded, StageAt: to, EndedAt: to, Outcome: coppice.OutcomeDone,
	}
	change(&t)
	return &t, p.tx.Tasks.Put(&t)
}

// documents writes the documents of a flow: a plan, if it has one, and others, with 20
// versions each.
func (p *past) documents(f *coppice.Task, plan string, now time.Time) error {
	names := []string{"summary", "contract", "worklog/" + longName}
	for n := range 9 {
		names = append(names, fmt.Sprintf("worklog/cycle-%d-review", n+1))
	}
	if plan != "" {
		names = append(names, "plan")
	}
	for _, name := range names {
		for version := range 20 {
			text := fmt.Sprintf("Version %d.\n\n%s", version+1, markdown)
			if name == "plan" {
				text = strings.Replace(plan, "[x]", "[ ]", 20-version)
			}
			d := coppice.Document{TaskID: f.ID, Name: name, Text: text, By: coppice.Actor{Kind: coppice.ActorPerson}, Step: "c1/review-with-" + longName, At: now.Add(-time.Duration(20-version) * 6 * time.Hour)}
			if err := p.tx.Documents.Put(&d); err != nil {
				return err
			}
		}
	}
	return nil
}
