package engine

import (
	"fmt"
	"time"

	"coppice"
	"coppice/prompt"
	"coppice/store"
)

// mostStarts limits how many sessions one turn starts, and so how much it reads
// of each lane.
const mostStarts = 64

// dispatch gives free sessions to parked work, and then to queued tasks. It
// repeats that if it found tasks in the wrong lane.
func (t *turn) dispatch() error {
	for {
		again, err := t.dispatchOnce()
		if err != nil || !again {
			return err
		}
	}
}

func (t *turn) dispatchOnce() (again bool, err error) {
	lanes := map[coppice.Lane][]coppice.Task{}
	capacity, err := loadCapacity(t.tx.Reader(), t.now, t.nodes, t.cfg)
	if err != nil {
		return false, err
	}
	if err := t.unpark(&capacity); err != nil {
		return false, err
	}
	if err := t.stopExcessParked(capacity); err != nil {
		return false, err
	}
	var wake time.Time
	for lane, ok, err := t.tx.Lanes.Next(coppice.Lane{}); ok || err != nil; lane, ok, err = t.tx.Lanes.Next(lane) {
		if err != nil {
			return false, err
		}
		if err := capacity.loadProject(t.tx.Reader(), lane.ProjectID); err != nil {
			return false, err
		}
		moved, err := t.rerouteLane(lane)
		if err != nil {
			return false, err
		}
		if moved == mostStarts {
			wake = t.now // the next turn might find more
		} else if moved > 0 {
			again = true // they moved to lanes that were checked before
		}
		if why, until := capacity.Blocked(lane); why != "" {
			if !until.IsZero() && (wake.IsZero() || until.Before(wake)) {
				wake = until
			}
			continue
		}
		heads, err := t.heads(lane, capacity)
		if err != nil {
			return false, err
		}
		lanes[lane] = heads
		if err := capacity.loadSpent(t.tx.Reader(), lane.ProjectID, heads); err != nil {
			return false, err
		}
	}
	for _, task := range fill(capacity, lanes) {
		started, err := t.start(task, capacity.Granted[task.ID])
		if err != nil {
			return false, fmt.Errorf("engine: start %s: %w", task.Key, err)
		}
		again = again || !started
	}
	return again, t.tx.Timers.Set(store.Timer{Kind: TimerLanes, ID: "lanes", At: wake})
}

// heads returns the tasks of a lane that could start now. Started ones come first.
// If there are none, it reads only as many tasks as can be added to those that are
// open: during a burst that is one or two, in every turn.
func (t *turn) heads(lane coppice.Lane, c Capacity) ([]coppice.Task, error) {
	most := c.freeSessions(lane, mostStarts)
	few := min(most, max(c.mayOpen(lane.ProjectID, most), 1))
	heads, err := t.tx.Lanes.Heads(lane, few)
	if err != nil || few == most || len(heads) == 0 || !hasStarted(heads[0]) {
		return heads, err
	}
	return t.tx.Lanes.Heads(lane, most)
}

// rerouteLane gives the first tasks of a lane to another account if their own
// cannot be used for long, and returns tasks of a fallback when their own
// account can be used. It checks each lane once whenever the limits have
// changed, and returns how many tasks moved.
func (t *turn) rerouteLane(lane coppice.Lane) (moved int, err error) {
	limited, err := t.limited()
	if err != nil {
		return 0, err
	}
	limits := string(coppice.Raw(limited))
	if was, seen := t.rerouted[lane]; seen && was == limits {
		return 0, nil
	}
	heads, err := t.tx.Lanes.Heads(lane, mostStarts)
	if err != nil {
		return 0, err
	}
	l, ok := limited.of(lane.Agent)
	for _, task := range heads {
		if !waitsForFallback(task) && (!ok || !isLong(l, t.now)) {
			continue
		}
		v, err := t.view(task.ID)
		if err != nil {
			return moved, err
		}
		d := reroute(v)
		if d == nil {
			continue
		}
		if err := t.apply(v, d); err != nil {
			return moved, err
		}
		moved++
	}
	if moved < mostStarts {
		t.rerouted[lane] = limits
	}
	return moved, nil
}

// start creates the task's next session and lets the pipeline start it. A task
// whose account has changed since it was queued moves to the other lane instead:
// the free session is one of the old lane.
func (t *turn) start(task coppice.Task, granted coppice.USD) (bool, error) {
	v, err := t.view(task.ID)
	if err != nil {
		return false, err
	}
	if d := budget(v); d != nil {
		return false, t.apply(v, d)
	}
	if d := reroute(v); d != nil {
		t.dirty.add(coppice.TaskSubject(task.ID))
		if err := t.apply(v, d); err != nil {
			return false, err
		}
		return false, t.settleAll()
	}
	n := *v.Task.Next
	closed, note := answers(v, n.Screen)
	n.Note = joinNotes(note, n.Note)
	if v.results, err = t.results(v); err != nil {
		return false, err
	}
	if n.Screen && n.Resume != "" && v.results != "" { // it has no prompt
		n.Note = joinNotes(n.Note, prompt.Results(v.results))
	}
	if v.Task.Issue != nil && n.Resume == "" {
		of, err := t.tx.Issues.Of(v.Task.ID)
		if err != nil {
			return false, err
		}
		if of != nil {
			v.issue = issueContext(*of, v.Messages)
		}
	}
	tools, err := t.tools(v, &n)
	if err != nil {
		return false, err
	}
	s := &coppice.Session{
		ProjectID: v.Project.ID, TaskID: v.Task.ID, N: v.Numbered + 1, Key: coppice.SessionKey(v.Task.Key, v.Numbered+1),
		Round: v.Task.Round, Role: n.Role, Track: v.Task.Track, Agent: n.Agent, Model: t.model(v, &n), Account: n.Account, Resume: n.Resume,
		Fork: n.Fork, Screen: n.Screen, Budget: granted,
		Prompt: promptFor(v, &n, tools), State: coppice.SessionStarting, CreatedAt: t.now,
	}
	c := v.Task
	c.Stage, c.Next, c.Wait = coppice.StageSession, nil, nil
	c.Sessions++
	d := &Decision{By: "dispatch", Kind: coppice.EventSessionCreated, Reason: string(n.Role) + " with " + n.Agent, Task: &c, Session: s, Questions: closed}
	if prepares := n.Role.Info().Prepares; prepares || n.Screen && n.Resume != "" {
		if n.Note != "" { // the session that it prepares gets it too
			d.Messages = []coppice.Message{{TaskID: c.ID, Text: n.Note, From: "person", SentAt: t.now}}
		}
	} else {
		for _, m := range v.Messages {
			m.DeliveredAt = t.now // they are in the prompt
			d.Messages = append(d.Messages, m)
		}
	}
	if err := t.apply(v, d); err != nil {
		return false, err
	}
	t.dirty.add(coppice.TaskSubject(task.ID))
	return true, t.settleAll()
}
