package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/lock"
	"coppice/store"
)

// LockAsk is a request of a session's agent for locks.
type LockAsk struct {
	Call   string // the id of the call; the same if the call is repeated
	Names  []string
	Reason string
	TTL    time.Duration
	Wait   time.Duration // 0 means that it does not wait
	// Later ends the call without an answer, if the request waits. The request
	// keeps its position, and the next call for the same names continues it.
	Later bool
}

// LockAnswer is the answer to a LockAsk. Exactly one of the first three is set,
// unless Refused is.
type LockAnswer struct {
	Granted  bool
	TimedOut bool
	Waits    bool
	Names    []string             // the names, in the form of package lock
	Blocked  []lock.Block         // what blocks them, if they are not granted
	Refused  *coppice.LockRequest // with the cycle that the request would close
}

// Lock requests locks for a session. It grants them, or adds a request that
// waits, or returns the outcome of a request that waited. The rules are those of
// package lock, which the deciders use too: a free lock costs one transaction.
func (i *Intake) Lock(ctx context.Context, session int64, ask LockAsk) (LockAnswer, error) {
	if err := validLockAsk(&ask); err != nil {
		return LockAnswer{}, err
	}
	var out LockAnswer
	err := i.store.Update(ctx, func(tx store.Tx) error {
		s, err := i.lockingSession(tx.Reader(), session)
		if err != nil {
			return err
		}
		return i.changeLocks(tx, s.ProjectID, projectOf(s), func(t *lock.Table) error {
			n := findRequest(t, s.ID, ask)
			if n >= 0 {
				out = continueRequest(t, n, ask)
			} else {
				out, err = i.newRequest(tx.Reader(), t, s, ask)
			}
			out.Names = ask.Names
			return err
		})
	})
	return out, err
}

// lockingSession returns a session that has not ended. Once has read its own.
func (i *Intake) lockingSession(r store.Reader, id int64) (coppice.Session, error) {
	if i.caller != nil && i.caller.ID == id {
		return *i.caller, nil
	}
	s, err := r.Sessions.Caller(id)
	if err == nil && !s.State.Live() {
		err = coppice.Errorf(coppice.EConflict, "the session %s has ended", s.Key)
	}
	return s, err
}

// validLockAsk checks a request and cleans its names.
func validLockAsk(a *LockAsk) error {
	var err error
	if a.Names, err = cleanLocks(a.Names); err != nil {
		return err
	}
	if err := coppice.ValidText("reason", a.Reason, coppice.MaxLockReason); err != nil {
		return err
	}
	if a.TTL < coppice.MinLockTTL || a.TTL > coppice.MaxLockTTL {
		return coppice.Errorf(coppice.EInvalid, "ttl_ms is %d", a.TTL.Milliseconds()).
			WithFix("use %d to %d", coppice.MinLockTTL.Milliseconds(), coppice.MaxLockTTL.Milliseconds()).WithField("ttl_ms")
	}
	if a.Wait < 0 || a.Wait > coppice.MaxLockWait {
		return coppice.Errorf(coppice.EInvalid, "timeout_ms is %d", a.Wait.Milliseconds()).
			WithFix("use 0 to %d", coppice.MaxLockWait.Milliseconds()).WithField("timeout_ms")
	}
	return nil
}

// cleanLocks returns names in the form of package lock, each once.
func cleanLocks(names []string) ([]string, error) {
	if len(names) == 0 || len(names) > coppice.MaxLockNames {
		return nil, coppice.Errorf(coppice.EInvalid, "the request names %d files", len(names)).
			WithFix("name 1 to %d; a glob or a directory counts as one", coppice.MaxLockNames).WithField("files")
	}
	var list []string
	for _, n := range names {
		clean, err := lock.Clean(n)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, clean) {
			list = append(list, clean)
		}
	}
	return list, nil
}

// findRequest returns the position of the request to which a call belongs: its
// own, or one for the same names for which no call waits. It returns -1 if there
// is none.
func findRequest(t *lock.Table, session int64, a LockAsk) int {
	n := slices.IndexFunc(t.Requests, func(r coppice.LockRequest) bool { return r.SessionID == session && r.Call == a.Call && a.Call != "" })
	if n >= 0 {
		return n
	}
	return slices.IndexFunc(t.Requests, func(r coppice.LockRequest) bool {
		return r.SessionID == session && r.Call == "" && r.Outcome != coppice.LockDeadlock && slices.Equal(r.Names, a.Names)
	})
}

// continueRequest answers a call from an earlier request.
func continueRequest(t *lock.Table, n int, a LockAsk) LockAnswer {
	r := &t.Requests[n]
	if r.Waits() {
		if r.Call = a.Call; a.Later {
			r.Call = ""
		}
		return LockAnswer{Waits: true, Blocked: t.Blocked(*r)}
	}
	of, blocked := *r, t.Blocked(*r)
	t.Requests = slices.Delete(t.Requests, n, n+1)
	switch of.Outcome {
	case coppice.LockGranted:
		return LockAnswer{Granted: true}
	case coppice.LockDeadlock:
		of.Call = ""
		t.Refuse(of)
		return LockAnswer{Blocked: blocked, Refused: &of}
	}
	return LockAnswer{TimedOut: true, Blocked: blocked}
}

// newRequest grants a request, or adds one that waits.
func (i *Intake) newRequest(r store.Reader, t *lock.Table, s coppice.Session, a LockAsk) (LockAnswer, error) {
	if t.Size()+len(a.Names) > coppice.MaxLocks {
		return LockAnswer{}, coppice.Errorf(coppice.ETooLarge, "the sessions of the project hold or wait for %d names already", t.Size()).
			WithFix("release files, or lock directories instead of single files")
	}
	task := strings.TrimSuffix(s.Key, coppice.SessionKey("", s.N))
	now := i.now().UTC()
	res := t.Request(coppice.LockRequest{
		ProjectID: s.ProjectID, SessionID: s.ID, Call: a.Call, Names: a.Names, Reason: a.Reason, TTL: coppice.Duration(a.TTL), Since: now, Until: now.Add(a.Wait),
		Owner: coppice.LockOwner{Session: s.Key, Task: task, State: s.State, Parked: s.Parked()},
	}, now)
	if !res.Granted && res.Refused == nil {
		if err := i.refuseAwaited(r, t, s, &res); err != nil {
			return LockAnswer{}, err
		}
	}
	switch {
	case res.Granted:
		return LockAnswer{Granted: true}, nil
	case res.Refused != nil:
		res.Refused.Call = ""
		t.Refuse(*res.Refused)
		return LockAnswer{Blocked: res.Blocked, Refused: res.Refused}, nil
	case a.Wait == 0:
		t.Requests = t.Requests[:len(t.Requests)-1]
		return LockAnswer{TimedOut: true, Blocked: res.Blocked}, nil
	}
	return LockAnswer{Waits: true, Blocked: res.Blocked}, nil
}

// LeaveLock withdraws the request for which a call of a session waits, because
// its agent no longer waits for the answer.
func (i *Intake) LeaveLock(ctx context.Context, session int64, call string) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		_, ok, err := tx.Locks.Outcome(session, call)
		if err != nil || !ok || call == "" {
			return err
		}
		s, err := tx.Sessions.Caller(session)
		if err != nil {
			return err
		}
		return i.freeLocks(tx, s.ProjectID, projectOf(s), func(t *lock.Table) error {
			if n := findRequest(t, session, LockAsk{Call: call}); n >= 0 {
				t.Withdraw(t.Requests[n].ID, i.now().UTC())
			}
			return nil
		})
	})
}

// ReleaseLocks releases locks of a session, and returns the names that it held.
func (i *Intake) ReleaseLocks(ctx context.Context, session int64, names []string) ([]string, error) {
	names, err := cleanLocks(names)
	if err != nil {
		return nil, err
	}
	released := []string{}
	err = i.store.Update(ctx, func(tx store.Tx) error {
		s, err := i.lockingSession(tx.Reader(), session)
		if err != nil {
			return err
		}
		return i.freeLocks(tx, s.ProjectID, projectOf(s), func(t *lock.Table) error {
			for _, l := range t.Release(s.ID, names, i.now().UTC()) {
				released = append(released, l.Name)
			}
			return nil
		})
	})
	return released, err
}

// ReleaseLock releases the lock with a name, or all locks of the session with a
// key, for a person. It returns the locks.
func (i *Intake) ReleaseLock(ctx context.Context, project, name, session string) ([]coppice.Lock, error) {
	if (name == "") == (session == "") {
		return nil, coppice.Errorf(coppice.EInvalid, "the request must name either a lock or a session").WithFix("see `coppice locks`")
	}
	if name != "" {
		clean, err := lock.Clean(name)
		if err != nil {
			return nil, err
		}
		name = clean
	}
	var released []coppice.Lock
	err := i.store.Update(ctx, func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix(project)
		if err != nil {
			return err
		}
		return i.freeLocks(tx, p.ID, p.Prefix, func(t *lock.Table) error {
			for _, l := range slices.Clone(t.Held) {
				if l.Name == name || session != "" && l.Owner.Session == session {
					released = append(released, t.Release(l.SessionID, []string{l.Name}, i.now().UTC())...)
				}
			}
			if len(released) > 0 {
				return nil
			}
			what := "on " + coppice.Quote(name)
			if session != "" {
				what = "of the session " + coppice.Quote(session)
			}
			return coppice.Errorf(coppice.ENotFound, "there is no lock %s in the project %s", what, p.Prefix).WithFix("`coppice locks --project %s` lists the locks", p.Prefix)
		})
	})
	return released, err
}

// projectOf returns the prefix of a session's project, which never changes.
func projectOf(s coppice.Session) string {
	prefix, _, _, _ := coppice.ParseKey(s.Key) // a session's key is valid
	return prefix
}

// freeLocks changes the locks of a project, and grants what became free in the same
// transaction: the agents that wait for it do not wait for a turn of the engine.
func (i *Intake) freeLocks(tx store.Tx, project int64, prefix string, change func(*lock.Table) error) error {
	return i.changeLocks(tx, project, prefix, func(t *lock.Table) error {
		err := change(t)
		if err == nil {
			settleLocks(t, i.now().UTC())
		}
		return err
	})
}

// changeLocks changes the locks of a project. The event wakes the engine, which
// knows when the next of them ends.
func (i *Intake) changeLocks(tx store.Tx, project int64, prefix string, change func(*lock.Table) error) error {
	before, err := lockTable(tx.Reader(), project)
	if err != nil {
		return err
	}
	after := before.Clone()
	if err := change(&after); err != nil {
		return err
	}
	c := diffLocks(before, &after)
	if err := putLocks(tx, c); err != nil || !c.Notable() {
		return err
	}
	return tx.Log.Append(&coppice.Event{
		At: i.now().UTC(), Kind: coppice.EventLocksChanged, ProjectID: project, About: coppice.LocksSubject(project), Subject: prefix,
		By: i.by.String(), Reason: c.Summary(), Data: coppice.Raw(c.Events),
	})
}
