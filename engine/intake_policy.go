package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"coppice"
	"coppice/reaction"
	"coppice/store"
)

// ChangePolicy activates the policy that was found in a known project's
// checkout.
func (i *Intake) ChangePolicy(ctx context.Context, found coppice.Project) (coppice.Project, error) {
	var p coppice.Project
	err := i.store.Update(ctx, func(tx store.Tx) error {
		var err error
		if p, err = tx.Projects.ByPath(found.Path); err != nil {
			return err
		}
		return i.takePolicy(tx, &p, found)
	})
	return p, err
}

// EditPolicy changes a part of a known project's policy for a person, whatever else
// waits for a confirmation. baseCommit is where the base of the new policy is.
func (i *Intake) EditPolicy(ctx context.Context, path, baseCommit string, edit func(coppice.Policy) (coppice.Policy, error)) (coppice.Project, error) {
	var p coppice.Project
	err := i.store.Update(ctx, func(tx store.Tx) error {
		var err error
		if p, err = tx.Projects.ByPath(path); err != nil {
			return err
		}
		policy, err := edit(p.Policy)
		if err != nil {
			return err
		}
		return i.takePolicy(tx, &p, coppice.Project{Path: path, Policy: policy, BaseCommit: baseCommit})
	})
	return p, err
}

// takePolicy gives a project the policy that was found, if it differs.
func (i *Intake) takePolicy(tx store.Tx, p *coppice.Project, found coppice.Project) error {
	was := p.Policy
	if string(coppice.Raw(was)) == string(coppice.Raw(found.Policy)) {
		return nil
	}
	p.Policy = found.Policy
	if was.Base != found.Policy.Base {
		if err := setTip(tx, p, found.BaseCommit); err != nil {
			return err
		}
		if err := i.endNeeds(tx, p, "work lands on another branch", coppice.NeedBase); err != nil {
			return err
		}
	}
	if err := i.changeTracks(tx, was, p); err != nil {
		return err
	}
	if err := tx.Projects.Put(p); err != nil {
		return err
	}
	if err := i.askTrust(tx, p); err != nil {
		return err
	}
	if err := i.changeLanding(tx, was, *p); err != nil {
		return err
	}
	return i.event(tx, coppice.EventProjectChanged, coppice.Task{ProjectID: p.ID, Key: p.Prefix}, "its policy changed")
}

// askTrust asks a person one time whether reactions can pass text from outside to agents:
// if the policy has such rules and does not say. The policy has the answer.
func (i *Intake) askTrust(tx store.Tx, p *coppice.Project) error {
	events := reaction.Outside(p.Policy.Reactions, p.Policy.Land.How == coppice.LandPR)
	if p.Policy.Trust != "" || len(events) == 0 {
		return i.endNeeds(tx, p, "coppice.yaml has the decision, or no such rule", coppice.NeedTrust)
	}
	names := make([]string, len(events))
	for n, e := range events {
		names[n] = string(e)
	}
	n := coppice.Need{Kind: coppice.NeedTrust, Since: i.now().UTC()}
	n.Text = fmt.Sprintf("Reactions to %s pass text from outside to agents, such as comments and logs of CI. It can contain instructions, and sessions have no sandbox yet. "+
		"Until you decide, these reactions do nothing", strings.Join(names, ", "))
	n.Fix = "read docs/reactions.md, then run `coppice config set trust unsandboxed` to allow it, or `coppice config set trust sandboxed` to keep such text from agents"
	if old := p.Need(n.Kind); old != nil && old.Text == n.Text {
		return nil
	}
	if err := setNeeds(tx, p, n.Kind, func(list coppice.Needs) coppice.Needs { return list.With(n) }); err != nil {
		return err
	}
	return i.needEvent(tx, coppice.EventNeedBegan, *p, n.Kind, n.Text)
}

// changeLanding wakes the tasks that wait for a person's approval if the rules
// of landing changed: they might need none any more.
func (i *Intake) changeLanding(tx store.Tx, was coppice.Policy, p coppice.Project) error {
	if string(coppice.Raw(was.Land)) == string(coppice.Raw(p.Policy.Land)) {
		return nil
	}
	tasks, err := tx.Tasks.List(store.TaskFilter{ProjectID: p.ID, Stages: coppice.StagesThat(coppice.Stage.Awaits), OldFirst: true})
	for _, t := range tasks {
		err = errors.Join(err, i.event(tx, coppice.EventTaskChanged, t, "the project lands work in another way"))
	}
	return err
}

// changeTracks follows a change of a project's tracks. Tasks that have not
// started move to the track of their category, unless a person moved them.
// Removed tracks delay no task.
func (i *Intake) changeTracks(tx store.Tx, was coppice.Policy, p *coppice.Project) error {
	if string(coppice.Raw(was.Tracks)) == string(coppice.Raw(p.Policy.Tracks)) {
		return nil
	}
	p.PausedTracks, p.Strikes = clone(p.PausedTracks), clone(p.Strikes)
	for _, t := range was.Tracks {
		if _, there := p.Policy.Track(t.Name); !there {
			delete(p.PausedTracks, t.Name)
			delete(p.Strikes, t.Name)
		}
	}
	tasks, err := tx.Tasks.List(store.TaskFilter{ProjectID: p.ID, Stages: []coppice.Stage{coppice.StageWaiting, coppice.StageQueued}, OldFirst: true})
	if err != nil {
		return err
	}
	for _, t := range tasks {
		_, there := p.Policy.Track(t.Track)
		to := p.Policy.TrackFor(t.Category)
		if hasStarted(t) || t.Track == to || there && t.Track != was.TrackFor(t.Category) {
			continue
		}
		t.Track = to
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		if err := i.event(tx, coppice.EventTaskChanged, t, "moves to track "+to); err != nil {
			return err
		}
	}
	return nil
}
