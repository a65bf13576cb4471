package engine

import (
	"slices"

	"coppice"
	"coppice/lock"
	"coppice/store"
)

// Package lock finds the cycles of sessions that wait for locks. A session can also
// wait for tasks (wait_for_tasks), whose sessions wait for its locks. Neither
// would continue before the locks of the parked session expire.

// reaches reports whether a session that waits for tasks waits for another task:
// one of them is that task, or their sessions wait for it.
func reaches(r store.Reader, tasks []int64, task int64) (bool, error) {
	seen := map[int64]bool{}
	for next := slices.Clone(tasks); len(next) > 0; {
		id := next[0]
		next = next[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		some, err := r.Tasks.Some([]int64{id})
		if err != nil {
			return false, err
		}
		if t, ok := some[id]; !ok || t.Ended() {
			continue
		}
		if id == task {
			return true, nil
		}
		s, err := r.Sessions.Last(id)
		if err != nil {
			return false, err
		}
		if s != nil && s.Waits != nil {
			next = append(next, s.Waits.Tasks...)
		}
	}
	return false, nil
}

// refuseAwaited refuses a waiting request, the newest of the table, if the holder of
// a lock waits for the task of the request's session.
func (i *Intake) refuseAwaited(r store.Reader, t *lock.Table, s coppice.Session, res *lock.Result) error {
	for _, b := range res.Blocked {
		if b.Lock == nil {
			continue
		}
		holder, err := r.Sessions.Get(b.Lock.SessionID)
		if err != nil {
			return err
		}
		if holder.Waits == nil {
			continue
		}
		cycle, err := reaches(r, holder.Waits.Tasks, s.TaskID)
		if err != nil {
			return err
		}
		if cycle {
			last := len(t.Requests) - 1
			q := t.Requests[last]
			t.Requests = t.Requests[:last]
			q.Outcome, q.Until, q.Cycle = coppice.LockDeadlock, i.now().UTC().Add(coppice.LockCycleKept), []string{s.Key, holder.Key}
			q.Hint = holder.Key + " should release " + b.Lock.Name + ", but it waits until your task ends: finish without the file, and say so in your result"
			res.Refused = &q
			return nil
		}
	}
	return nil
}

// refuseLocked refuses a session to wait for tasks whose sessions wait for its locks.
func refuseLocked(r store.Reader, s coppice.Session, tasks []int64) error {
	table, err := lockTable(r, s.ProjectID)
	if err != nil {
		return err
	}
	blocked := table.AllBlocked()
	for _, q := range table.Requests {
		for _, b := range blocked[q.ID] {
			if b.Lock == nil || b.Lock.SessionID != s.ID {
				continue
			}
			waiter, err := r.Sessions.Caller(q.SessionID)
			if err != nil {
				return err
			}
			cycle, err := reaches(r, tasks, waiter.TaskID)
			if err != nil {
				return err
			}
			if cycle {
				return coppice.Errorf(coppice.EConflict, "%s waits for %s, which your session has locked", q.Owner.Session, b.Lock.Name).
					WithFix("release it with release_files, then call wait_for_tasks again")
			}
		}
	}
	return nil
}
