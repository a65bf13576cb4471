package engine

import (
	"fmt"
	"time"

	"coppice"
	"coppice/store"
)

// mostStarts bounds how many sessions one turn starts, and so what it reads of
// each lane.
const mostStarts = 64

// dispatch gives free sessions to parked work, and then to queued tasks. It looks
// again when it found some in the wrong lane.
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
	room, err := loadRoom(t.tx.Reader(), t.now, t.nodes, t.cfg)
	if err != nil {
		return false, err
	}
	if err := t.unpark(&room); err != nil {
		return false, err
	}
	if err := t.thin(room); err != nil {
		return false, err
	}
	var wake time.Time
	for lane, ok, err := t.tx.Lanes.Next(coppice.Lane{}); ok || err != nil; lane, ok, err = t.tx.Lanes.Next(lane) {
		if err != nil {
			return false, err
		}
		if err := room.know(t.tx.Reader(), lane.ProjectID); err != nil {
			return false, err
		}
		moved, err := t.rerouteLane(lane)
		if err != nil {
			return false, err
		}
		if moved == mostStarts {
			wake = t.now // there may be more, for the next turn
		} else if moved > 0 {
			again = true // to lanes that were looked at before
		}
		if why, until := room.Blocked(lane); why != "" {
			if !until.IsZero() && (wake.IsZero() || until.Before(wake)) {
				wake = until
			}
			continue
		}
		heads, err := t.tx.Lanes.Heads(lane, room.places(lane, mostStarts))
		if err != nil {
			return false, err
		}
		lanes[lane] = heads
		if err := room.learn(t.tx.Reader(), lane.ProjectID, heads); err != nil {
			return false, err
		}
	}
	for _, task := range fill(room, lanes) {
		started, err := t.start(task, room.Granted[task.ID])
		if err != nil {
			return false, fmt.Errorf("engine: start %s: %w", task.Key, err)
		}
		again = again || !started
	}
	return again, t.tx.Timers.Set(store.Timer{Kind: TimerLanes, ID: "lanes", At: wake})
}

// rerouteLane gives the first tasks of a lane to another account when their own
// cannot be used for long, and those of a stand-in back when their own can. It
// looks once at each lane whenever the limits have changed, and returns how many
// tasks moved.
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
		if !stoodIn(task) && (!ok || !lasts(l, t.now)) {
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

// start creates the task's next session and lets the pipeline carry it on. A
// task whose account has become another one since it was queued moves to that
// one's lane instead, as room was found for it in the old one.
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
	s := &coppice.Session{
		ProjectID: v.Project.ID, TaskID: v.Task.ID, N: v.Numbered + 1, Key: coppice.SessionKey(v.Task.Key, v.Numbered+1),
		Round: v.Task.Round, Role: n.Role, Track: v.Task.Track, Agent: n.Agent, Model: t.model(v, &n), Resume: n.Resume,
		Fork: n.Fork, Screen: n.Screen, Budget: granted,
		Prompt: promptFor(v, &n), State: coppice.SessionStarting, CreatedAt: t.now,
	}
	c := v.Task
	c.Stage, c.Next, c.Wait = coppice.StageSession, nil, nil
	c.Sessions++
	d := &Decision{By: "dispatch", Kind: coppice.EventSessionCreated, Reason: string(n.Role) + " with " + n.Agent, Task: &c, Session: s, Questions: closed}
	if n.Screen && n.Resume != "" {
		if n.Note != "" {
			d.Messages = []coppice.Message{{TaskID: c.ID, Text: n.Note, From: "person", SentAt: t.now}}
		}
	} else {
		for _, m := range v.Messages {
			m.DeliveredAt = t.now // they stand in the prompt
			d.Messages = append(d.Messages, m)
		}
	}
	if err := t.apply(v, d); err != nil {
		return false, err
	}
	t.dirty.add(coppice.TaskSubject(task.ID))
	return true, t.settleAll()
}

// loadRoom reads what dispatch and the derived statuses need.
func loadRoom(r store.Reader, now time.Time, nodes []coppice.Node, cfg Config) (Room, error) {
	room := Room{
		Now: now, Projects: map[int64]coppice.Project{}, Limited: Limited{},
		Nodes: nodes, Most: cfg.MaxSessions, Reserve: cfg.Reserve,
		Reserved: map[int64]coppice.USD{}, Spent: map[int64]coppice.USD{}, Granted: map[int64]coppice.USD{},
	}
	var err error
	if room.Today, err = r.Spend.ByProject(coppice.Day(now)); err != nil {
		return room, err
	}
	if room.Running, err = r.Lanes.Running(); err != nil {
		return room, err
	}
	if room.InFlight, err = r.Lanes.InFlight(); err != nil {
		return room, err
	}
	if room.Takes, err = r.Sessions.MemoryUsed(); err != nil {
		return room, err
	}
	limits, err := r.Limits.All()
	if err != nil {
		return room, err
	}
	for _, l := range limits {
		if l.Holds(now) {
			room.Limited[l.Agent] = l
		}
	}
	live, err := r.Sessions.Live()
	if err != nil {
		return room, err
	}
	for _, s := range live {
		room.reserve(s)
		if s.StartedAt.IsZero() || now.Sub(s.StartedAt) < young {
			if err := room.know(r, s.ProjectID); err != nil {
				return room, err
			}
			room.promise(s.ProjectID, s.Agent)
		}
		if s.Parked() {
			room.Parked = append(room.Parked, s)
		}
	}
	return room, nil
}

// know loads a project into the room once.
func (r Room) know(tx store.Reader, project int64) error {
	if _, ok := r.Projects[project]; ok {
		return nil
	}
	p, err := tx.Projects.Get(project)
	r.Projects[project] = p
	return err
}

// learn loads what tasks have spent that may start and have a budget.
func (r Room) learn(tx store.Reader, project int64, tasks []coppice.Task) error {
	p := r.Projects[project].Policy
	for _, t := range tasks {
		if allowed(p, t) == 0 {
			continue
		}
		spent, err := tx.Spend.Of(coppice.TaskSubject(t.ID), "")
		if err != nil {
			return err
		}
		r.Spent[t.ID] = coppice.USD(spent.CostUSD)
	}
	return nil
}
