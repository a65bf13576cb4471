package engine

import "coppice"

// viewFamily reads the tasks above a task, and wakes the family if one of their
// budgets is reached. It also reads the tasks for which the newest session waits.
func (t *turn) viewFamily(v *View) (err error) {
	if v.Task.Ended() {
		return nil
	}
	if v.Above, err = ancestors(t.tx.Reader(), v.Task); err != nil {
		return err
	}
	if err := t.viewAwaited(v); err != nil {
		return err
	}
	return t.wakeFamily(v)
}

// viewAwaited reads the tasks for which the newest session waits, in order.
func (t *turn) viewAwaited(v *View) error {
	v.Awaited = nil
	s := v.lastSession()
	if s == nil || s.Waits == nil {
		return nil
	}
	some, err := t.tx.Tasks.Some(s.Waits.Tasks)
	for _, id := range s.Waits.Tasks {
		if task, ok := some[id]; ok {
			v.Awaited = append(v.Awaited, task)
		}
	}
	return err
}

// awaited reads the tasks for which sessions of a page wait.
func (p *page) awaited(get func([]int64) (map[int64]coppice.Task, error)) (err error) {
	var ids []int64
	for _, list := range p.sessions {
		if s := last(list); s != nil && s.Waits != nil && s.State.Live() {
			ids = append(ids, s.Waits.Tasks...)
		}
	}
	if len(ids) > 0 {
		p.tasks, err = get(ids)
	}
	return err
}

// waitsFor says for which tasks a parked session waits, or "".
func (p page) waitsFor(s *coppice.Session) string {
	if s == nil || !s.State.Live() || !s.Parked() || s.Waits == nil || !s.ReadyAt.IsZero() {
		return ""
	}
	var list []coppice.Task
	for _, id := range s.Waits.Tasks {
		if t, ok := p.tasks[id]; ok {
			list = append(list, t)
		}
	}
	return awaitedText(list)
}
