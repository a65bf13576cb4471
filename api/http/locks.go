package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/lock"
	"coppice/store"
)

type releaseLockIn struct {
	ProjectIn
	Name    string `query:"name" maxLength:"1000" doc:"The name of the lock"`
	Session string `query:"session" maxLength:"64" doc:"The key of a session: all its locks"`
}

func (s *Server) lockRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/locks", id: "list-locks", tag: "projects",
		about: "List the locks of a project, the sessions that wait for some, and cycles"}, s.listLocks)
	add(s, a, op{method: http.MethodDelete, path: "/projects/{project}/locks", id: "release-lock", tag: "projects",
		about: "Release a lock, or all locks of a session"}, s.releaseLock)
}

func (s *Server) listLocks(ctx context.Context, in *ProjectIn) (api.Locks, error) {
	return store.Read(ctx, s.cfg.Store, func(r store.Reader) (api.Locks, error) {
		out := api.Locks{Held: []api.Lock{}, Waiting: []api.LockWait{}, Cycles: []api.LockCycle{}}
		p, err := r.Projects.ByPrefix(in.Project)
		if err != nil {
			return out, err
		}
		table, err := r.Locks.Table(p.ID)
		if err != nil {
			return out, err
		}
		held, err := r.Locks.Held(p.ID)
		if err != nil {
			return out, err
		}
		requests, err := r.Locks.Requests(p.ID)
		out.Project, out.Seq = p.Prefix, table.Seq
		for _, l := range held {
			out.Held = append(out.Held, lockView(l))
		}
		t := lock.Table{Held: held, Requests: requests}
		blocked := t.AllBlocked()
		for _, q := range requests {
			switch {
			case q.Waits():
				out.Waiting = append(out.Waiting, waitView(q, blocked[q.ID]))
			case q.Outcome == coppice.LockDeadlock:
				out.Cycles = append(out.Cycles, api.LockCycle{Sessions: q.Cycle, Names: q.Names, Hint: q.Hint, FoundAt: q.Until.Add(-coppice.LockCycleKept)})
			}
		}
		return out, err
	})
}

func lockView(l coppice.Lock) api.Lock {
	return api.Lock{
		Name: l.Name, Session: l.Owner.Session, Task: l.Owner.Task, State: l.Owner.State, Parked: l.Owner.Parked, Reason: l.Reason,
		AcquiredAt: l.AcquiredAt, ExpiresAt: l.ExpiresAt,
	}
}

func waitView(q coppice.LockRequest, blocked []lock.Block) api.LockWait {
	w := api.LockWait{Session: q.Owner.Session, Task: q.Owner.Task, Names: q.Names, Reason: q.Reason, Since: q.Since, Until: q.Until, Blocked: []api.LockBlock{}}
	for _, b := range blocked {
		w.Blocked = append(w.Blocked, api.LockBlock{Name: b.Name, Session: b.Owner().Session, Waits: b.Lock == nil})
	}
	return w
}

func (s *Server) releaseLock(ctx context.Context, in *releaseLockIn) (out api.ReleasedLocks, err error) {
	released, err := s.cfg.Projects.ReleaseLock(ctx, in.Project, in.Name, in.Session)
	for _, l := range released {
		out.Released = append(out.Released, lockView(l))
	}
	return out, err
}
