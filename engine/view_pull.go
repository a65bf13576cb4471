package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// viewPull reads the pull request of a task, those below it in a stack, and what its
// reactions did.
func (t *turn) viewPull(v *View) (err error) {
	if v.Task.Pull {
		if v.Pull, err = t.tx.Pulls.Of(v.Task.ID); err != nil {
			return err
		}
	}
	if v.Project.Policy.Land.PR.Stack && len(v.Task.After) > 0 && !v.Task.Ended() {
		pulls, err := t.tx.Pulls.OfTasks(v.Task.After)
		if err != nil {
			return err
		}
		for _, dep := range v.Task.After {
			if p, ok := pulls[dep]; ok && p.ProjectID == v.Project.ID && p.Open() && p.Number != 0 && p.Pushed != "" {
				v.Below = append(v.Below, p)
			}
		}
	}
	if err := t.viewComplete(v); err != nil {
		return err
	}
	if v.Pull != nil && !v.Pull.Cleaned || v.reacts() {
		if v.Reacted, err = t.tx.Reactions.Of(v.Project.ID, v.Task.ID); err != nil {
			return err
		}
	}
	if p := v.Pull; p != nil && v.Landing != nil && v.Task.Stage == coppice.StagePull && v.Landing.Commit != "" {
		v.BeforeLand = hooksOf(coppice.HookBeforeLand, v.Project.Policy.Hooks, t.userHooks())
		if len(v.BeforeLand) > 0 {
			v.HookRuns, err = t.tx.Hooks.Before(v.Landing.ID, v.Landing.Commit)
		}
	}
	return err
}

// viewComplete reads whether the task was the last one of its project that was open, and
// no reaction has followed that yet. Only projects with a rule for it read this.
func (t *turn) viewComplete(v *View) error {
	v.Complete = false
	if _, own := v.Project.Policy.Reactions[coppice.OnAllComplete]; !own || !v.Task.Ended() {
		return nil
	}
	handled, err := t.tx.Reactions.Of(v.Project.ID, 0)
	if err != nil || len(handled) > 0 && !handled[len(handled)-1].At.Before(v.Task.EndedAt) {
		return err
	}
	open, err := t.tx.Tasks.List(store.TaskFilter{ProjectID: v.Project.ID, Stages: coppice.StagesThat(func(s coppice.Stage) bool { return !s.Ended() }), Most: 1})
	v.Complete = err == nil && len(open) == 0
	return err
}

// stacked reports whether the request of a dependency is open, so that a dependent
// task can start from its branch.
func (v *View) stacked(dep coppice.Task) bool {
	return dep.Stage == coppice.StagePull && slices.ContainsFunc(v.Below, func(p coppice.Pull) bool { return p.TaskID == dep.ID })
}

// pullText returns how the pull request of a task is to look.
func pullText(v *View, l coppice.Landing) coppice.PullText {
	pr := v.Project.Policy.Land.PR
	text := coppice.PullText{
		Branch: v.Task.BranchName(), Base: v.onto(), Title: coppice.FirstLine(v.Task.Title), Draft: v.Task.Stage != coppice.StagePull, Labels: pr.Labels,
	}
	if !text.Draft {
		text.Reviewers = pr.Reviewers
	}
	if len(v.Below) > 0 {
		text.Base = v.Below[len(v.Below)-1].Branch
	}
	text.Body = pullBody(v, l)
	return text
}

// pullBody describes the work of a task: what and why, how it was proven, what it
// cost, and who did it.
func pullBody(v *View, l coppice.Landing) string {
	var b strings.Builder
	part := func(title, text string) {
		if text = strings.TrimSpace(coppice.Printable(text)); text != "" {
			fmt.Fprintf(&b, "## %s\n\n%s\n\n", title, text)
		}
	}
	part("What was asked", shorten(v.Task.Body, coppice.MaxPullText/4))
	part("What changed", landSummary(v, l))
	var proof []string
	for _, c := range v.checks() {
		state := "not run yet"
		if l.Green {
			state = "passed on the merged tree"
		}
		proof = append(proof, fmt.Sprintf("- `%s`: %s", coppice.FirstLine(c), state))
	}
	for _, c := range v.Task.Skip {
		proof = append(proof, fmt.Sprintf("- `%s`: left out by a person", coppice.FirstLine(c)))
	}
	if verifies(v) {
		state := "not verified yet"
		if l.Verified {
			state = "verified by a second agent"
		}
		proof = append(proof, fmt.Sprintf("- %d steps: %s", len(v.Task.Steps), state))
	}
	part("Checks", strings.Join(proof, "\n"))
	part("Steps", stepList(v.Task.Steps))
	fmt.Fprintf(&b, "---\nTask %s", v.Task.Key)
	if s := v.sessionByID(l.SessionID); s != nil && s.Agent != "" {
		fmt.Fprintf(&b, ", by %s", s.Agent)
		if s.Model != "" {
			fmt.Fprintf(&b, " (%s)", s.Model)
		}
	}
	if v.Spent > 0 {
		fmt.Fprintf(&b, ", %.2f USD so far", float64(v.Spent))
	}
	fmt.Fprintf(&b, ".\n\n%s\n", coppice.PullMarker(v.Task.Key))
	return b.String()
}

func stepList(steps []string) string {
	var list []string
	for i, s := range steps {
		list = append(list, fmt.Sprintf("%d. %s", i+1, coppice.FirstLine(s)))
	}
	return strings.Join(list, "\n")
}

// approvedGreen reports whether everybody agrees with the request: approved, CI
// passed, no conflicts. If nothing has run for a while, there is no CI.
func approvedGreen(p coppice.Pull, now time.Time) bool {
	r := p.Report
	green := r.CI == coppice.CIPassed || r.CI == coppice.CINone && !p.HotUntil.After(now)
	return r.State == coppice.PullOpen && !r.Draft && !r.Conflicts && green && r.Review == coppice.ReviewApproved && r.Head == p.Pushed
}

// draftFollowing returns a task that a reaction creates. It belongs to the group of
// the task whose event it follows.
func (t *turn) draftFollowing(v *View, n coppice.NewTask) (coppice.Task, error) {
	task, err := t.intake(reactionActor).draft(v.Project, n)
	if err == nil {
		task.Group, task.Next = v.Task.Group, firstSession(task, "")
	}
	return task, err
}
