package tools

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/lock"
	"coppice/store"
)

// lockTools are about the files that sessions lock.
var lockTools = []tool{
	waiting("lock_files", "Lock files before you edit them, so that no other session edits them at the same time. You get all of them or none. "+
		"The call waits while others hold them. Name files (src/main.go), globs (docs/**/*.md) or directories (src/ or checkout::src; checkout::. means all). "+
		"Request everything that you need in one call, and release it when you are done.", lockFiles).only(edits),
	changing("release_files", "Release locks that you hold, so that others can edit the files.", releaseFiles).only(edits),
	reading("check_file_locks", "List the locks that sessions of this project hold.", checkFileLocks),
}

// edits reports whether sessions of a role change files.
func edits(r coppice.RoleInfo, _ bool) bool { return r.Denied == "" }

type lockIn struct {
	Files     []string `json:"files" jsonschema:"paths relative to the repository: files, globs, or directories with a slash at the end"`
	Reason    string   `json:"reason,omitempty" jsonschema:"why you need them, for others who wait"`
	TTLMS     *int64   `json:"ttl_ms,omitempty" jsonschema:"how long the locks last after you stop working, in milliseconds; 600000 if absent"`
	TimeoutMS *int64   `json:"timeout_ms,omitempty" jsonschema:"how long to wait, in milliseconds; 660000 if absent, 0 means not at all"`
}

type releaseIn struct {
	Files []string `json:"files" jsonschema:"the names, as lock_files returned them"`
}

type released struct {
	Released []string `json:"released"`
}

// Locked is the answer to a request for locks.
type Locked struct {
	engine.LockGrant
	Blocked          []Blocked `json:"blocked,omitempty"`
	TimedOut         bool      `json:"timed_out,omitempty"`
	DeadlockDetected bool      `json:"deadlock_detected,omitempty"`
	Cycle            []string  `json:"cycle,omitempty"`
	ReleaseHint      string    `json:"release_hint,omitempty"`
	StillWaiting     bool      `json:"still_waiting,omitempty"`
	Note             string    `json:"note,omitempty"`
}

// Blocked is a name that another session holds, or waits for since earlier.
type Blocked struct {
	File         string    `json:"file"`
	HeldBy       string    `json:"held_by"` // the key of the session
	ExpiresAt    time.Time `json:"expires_at,omitzero"`
	HeldByStatus string    `json:"held_by_status"`
	LockReason   string    `json:"lock_reason,omitempty"`
}

// FileLock is a lock as agents see it.
type FileLock struct {
	FilePath   string    `json:"file_path"`
	AgentID    string    `json:"agent_id"` // the key of the session
	Reason     string    `json:"reason,omitempty"`
	AcquiredAt time.Time `json:"acquired_at"`
	ExpiresAt  time.Time `json:"expires_at"`
}

// lockFiles requests locks and waits for them. The request is stored with the id
// of the call, so a call that is repeated after a restart finds its request. The
// transaction that grants it stores the answer.
func lockFiles(c *call, in lockIn) (any, error) {
	names, err := c.relative(in.Files)
	if err != nil {
		return nil, err
	}
	ask := engine.LockAsk{Call: c.id, Names: names, Reason: in.Reason, TTL: millis(in.TTLMS, coppice.LockTTL), Wait: millis(in.TimeoutMS, coppice.LockWait)}
	for {
		answer, err := c.cfg.Intake.Once(c.ctx, c.session, c.id, func(ctx context.Context, i *engine.Intake, _ store.Tx) (any, error) {
			a, err := i.Lock(ctx, c.session.ID, ask)
			if err != nil || a.Waits && !ask.Later {
				return nil, err
			}
			return locked(a), nil
		})
		if err != nil || answer != nil {
			return answer, err
		}
		ended, err := c.wait(func(r store.Reader) (bool, error) {
			outcome, ok, err := r.Locks.Outcome(c.session.ID, c.id)
			if ended := !ok || outcome != ""; err != nil || !ended {
				return false, err
			}
			answer, err = r.Calls.Answer(c.session.ID, c.id)
			return true, err
		}, store.TopicLockRequest(c.session.ProjectID, c.session.ID))
		if err != nil || answer != nil {
			return answer, err
		}
		ask.Later = !ended
	}
}

// locked returns what an agent gets.
func locked(a engine.LockAnswer) Locked {
	out := Locked{LockGrant: engine.LockGrant{Success: a.Granted, Acquired: []string{}}, TimedOut: a.TimedOut}
	for _, b := range a.Blocked {
		out.Blocked = append(out.Blocked, blocked(b))
	}
	switch {
	case a.Granted:
		out.Acquired = a.Names
	case a.Refused != nil:
		out.DeadlockDetected, out.Cycle, out.ReleaseHint = true, a.Refused.Cycle, a.Refused.Hint
	case a.Waits:
		still := stillWaiting()
		out.StillWaiting, out.Note = still.StillWaiting, still.Note
	}
	return out
}

func blocked(b lock.Block) Blocked {
	owner := b.Owner()
	out := Blocked{File: b.Name, HeldBy: owner.Session, HeldByStatus: string(owner.State)}
	switch {
	case b.Lock == nil:
		out.HeldByStatus, out.LockReason = "waits for it since earlier", b.Request.Reason
	case owner.Parked:
		out.HeldByStatus = "parked"
		fallthrough
	default:
		out.ExpiresAt, out.LockReason = b.Lock.ExpiresAt, b.Lock.Reason
	}
	return out
}

func releaseFiles(c *call, i *engine.Intake, tx store.Tx, in releaseIn) (released, error) {
	names, err := relative(tx.Reader(), c.session, in.Files)
	if err != nil {
		return released{}, err
	}
	list, err := i.ReleaseLocks(c.ctx, c.session.ID, names)
	return released{list}, err
}

func checkFileLocks(c *call, r store.Reader, _ struct{}) ([]FileLock, error) {
	held, err := r.Locks.Held(c.session.ProjectID)
	list := []FileLock{}
	for _, l := range held {
		list = append(list, FileLock{l.Name, l.Owner.Session, l.Reason, l.AcquiredAt, l.ExpiresAt})
	}
	return list, err
}

// millis returns a number of milliseconds, or the default if it is absent.
func millis(n *int64, def time.Duration) time.Duration {
	if n == nil {
		return def
	}
	// Numbers that a Duration cannot contain are above every limit.
	return time.Duration(max(-1, min(*n, int64(24*time.Hour/time.Millisecond)))) * time.Millisecond
}

// relative makes absolute paths in the session's workspace relative.
func (c *call) relative(names []string) ([]string, error) {
	if !slices.ContainsFunc(names, absolute) {
		return names, nil
	}
	return store.Read(c.ctx, c.cfg.Store, func(r store.Reader) ([]string, error) { return relative(r, c.session, names) })
}

func absolute(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(name, lock.TreePrefix), "/")
}

func relative(r store.Reader, s coppice.Session, names []string) ([]string, error) {
	var roots []string
	list := make([]string, 0, len(names))
	for _, n := range names {
		if !absolute(n) {
			list = append(list, n)
			continue
		}
		rest := strings.TrimPrefix(n, lock.TreePrefix)
		if roots == nil {
			var err error
			if roots, err = rootsOf(r, s); err != nil {
				return nil, err
			}
		}
		for _, root := range roots {
			if below, ok := strings.CutPrefix(rest+"/", root+"/"); ok {
				n = n[:len(n)-len(rest)] + cmp.Or(strings.TrimSuffix(below, "/"), ".")
				break
			}
		}
		list = append(list, n)
	}
	return list, nil
}

// rootsOf returns the directories in which a session can have its files.
func rootsOf(r store.Reader, s coppice.Session) ([]string, error) {
	var roots []string
	add := func(dir string) {
		if dir != "" {
			roots = append(roots, path.Clean(dir))
		}
	}
	add(s.Path)
	ws, err := r.Workspaces.Of(s.TaskID)
	if err != nil {
		return nil, err
	}
	if ws != nil {
		add(ws.Path)
	}
	p, err := r.Projects.Get(s.ProjectID)
	add(p.Path)
	return roots, err
}
