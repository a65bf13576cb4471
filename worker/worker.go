// Package worker executes what the engine decided: it takes work items from the
// fabric, carries them out, and reports. It decides nothing: it has no retries,
// fallbacks or policies.
//
// Effects are idempotent, so an item can be executed again after a crash. A
// worker that starts continues the work that it had when it stopped. That is
// also how it finds the sessions that ran without it.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"coppice"
	"coppice/fabric"
	"coppice/host"
	"coppice/workspace"
)

// Config has the dependencies of a Worker. All fields except Forges, Trackers, Notifier, Browser, Secrets,
// Logger, Capacity, Renew and Retry are required.
type Config struct {
	Name       string // the same after a restart
	Pools      []string
	Fabric     fabric.Fabric
	Ledger     fabric.Ledger
	Workspaces Workspaces
	Forges     Forges
	Trackers   Trackers
	Notifier   Notifier
	Sessions   string // the parent of the sessions' directories
	Host       host.Launcher
	Browser    []string // the command of a session's browser; empty means no browser
	// Profile finds the profile of an agent. own is the project's profile, or
	// nil.
	Profile func(name string, own *coppice.Profile) (coppice.Profile, error)
	// Secrets resolves a secret that a session needs, and makes sure first that
	// its value is masked in all output. It is called when a session starts, and
	// when a worker finds a session again.
	Secrets func(ctx context.Context, name string) (string, error)
	// Environ is Coppice's own environment. Agents get only the allowed part.
	Environ []string
	Now     func() time.Time
	Logger  *slog.Logger
	// Capacity limits how many items of a group are executed in parallel.
	Capacity map[Group]int
	// Renew is how often leases are renewed; 0 means every 10 s.
	Renew time.Duration
	// Retry is the pause after the control process could not be reached, or did
	// not accept a report. It doubles each time, up to 32 times. 0 means 1 s.
	Retry time.Duration
}

// Group is a set of kinds with a common limit.
type Group string

// The groups.
const (
	GroupGit     Group = "git"     // short effects on repositories
	GroupPush    Group = "push"    // pushes; they wait for a network, and no other work on this machine waits for them
	GroupForge   Group = "forge"   // calls of a forge's API; a stop ends them, because each is safe to repeat
	GroupCheck   Group = "check"   // checks; they use the machine
	GroupHook    Group = "hook"    // commands of hooks; the engine limits them
	GroupSession Group = "session" // sessions and messages to them; the engine limits them
)

// executor carries out a kind of work and returns its result.
type executor struct {
	group Group
	// whole marks short effects that write to repositories. Nothing ends them
	// early: a stop waits for them, and a lost lease only loses their result.
	whole bool
	do    func(*Worker, context.Context, coppice.Lease) (any, error)
}

var executors = map[coppice.WorkKind]executor{
	coppice.WorkPrepare: {GroupGit, false, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return prepareWithHost(ctx, w, l, w.cfg.Workspaces.Prepare)
	}},
	coppice.WorkRemove: {GroupGit, true, (*Worker).remove},
	coppice.WorkRestore: {GroupGit, true, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return prepareWithHost(ctx, w, l, w.cfg.Workspaces.Restore)
	}},
	coppice.WorkPurge: {GroupGit, true, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, func(ctx context.Context, s coppice.PurgeSpec) (coppice.PurgeResult, error) {
			return coppice.PurgeResult{}, w.cfg.Workspaces.Purge(ctx, s)
		})
	}},
	coppice.WorkStrays: {GroupGit, true, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Workspaces.DropStrays)
	}},
	coppice.WorkBranch: {GroupGit, true, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Workspaces.FlowBranch)
	}},
	coppice.WorkMerge: {GroupGit, true, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Workspaces.Merge)
	}},
	coppice.WorkPush: {GroupPush, true, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Workspaces.Push)
	}},
	coppice.WorkMove: {GroupGit, true, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Workspaces.Move)
	}},
	coppice.WorkPullPush: {GroupPush, true, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Workspaces.PullPush)
	}},
	coppice.WorkForgeWrite: {GroupForge, false, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Forges.Write)
	}},
	coppice.WorkForgeRead: {GroupForge, false, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Forges.Read)
	}},
	coppice.WorkTrackerRead: {GroupForge, false, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Trackers.Read)
	}},
	coppice.WorkTrackerWrite: {GroupForge, false, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Trackers.Write)
	}},
	coppice.WorkNotify: {GroupForge, false, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Notifier.Send)
	}},
	coppice.WorkHook: {GroupHook, false, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) {
		return with(ctx, l, w.cfg.Workspaces.Hook)
	}},
	coppice.WorkCheck:   {GroupCheck, false, (*Worker).check},
	coppice.WorkRun:     {GroupSession, false, (*Worker).run},
	coppice.WorkPreview: {GroupSession, false, (*Worker).preview},
	coppice.WorkSend:    {GroupSession, false, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) { return with(ctx, l, w.send) }},
	coppice.WorkStop:    {GroupSession, false, func(w *Worker, ctx context.Context, l coppice.Lease) (any, error) { return with(ctx, l, w.stop) }},
}

// with decodes the spec and calls the effect.
func with[S, R any](ctx context.Context, l coppice.Lease, f func(context.Context, S) (R, error)) (any, error) {
	spec, err := coppice.DecodeSpec[S](l.Work)
	if err != nil {
		return nil, coppice.Failf(coppice.ClassUnknown, fmt.Sprintf("%s cannot be read: %v", l.Work.Kind, err), "")
	}
	return f(ctx, spec)
}

// Worker takes and executes work. Start it once. Stop leaves running sessions
// alone.
type Worker struct {
	cfg      Config
	wg       sync.WaitGroup // the effects in progress
	takers   sync.WaitGroup // the loops that take further work
	renewer  sync.WaitGroup
	freed    chan struct{} // an item has ended
	stopping chan struct{} // closed when a stop starts
	hurry    chan struct{} // closed when a stop should end what it can
	stopOnce sync.Once
	hurried  sync.Once
	cancel   context.CancelFunc // ends effects that are not whole
	rest     context.CancelFunc // stops the renewal of leases

	mu    sync.Mutex
	held  map[int64]holding // by work id
	inUse map[Group]int
	ahead map[int64]*aheadHost // hosts that came up before their session, by its id
}

type holding struct {
	lease  coppice.Lease
	cancel context.CancelCauseFunc
}

// New returns a Worker.
func New(c Config) (*Worker, error) {
	if c.Name == "" || c.Fabric == nil || c.Ledger == nil || c.Workspaces == nil || c.Sessions == "" || c.Profile == nil || c.Now == nil {
		return nil, errors.New("worker: Name, Fabric, Ledger, Workspaces, Sessions, Profile and Now are required")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Forges == nil {
		c.Forges = noForges{}
	}
	if c.Trackers == nil {
		c.Trackers = noTrackers{}
	}
	if c.Notifier == nil {
		c.Notifier = noNotifier{}
	}
	if c.Renew == 0 {
		c.Renew = 10 * time.Second
	}
	if c.Retry == 0 {
		c.Retry = time.Second
	}
	return &Worker{
		cfg: c, freed: make(chan struct{}, 1), stopping: make(chan struct{}), hurry: make(chan struct{}),
		held: map[int64]holding{}, inUse: map[Group]int{}, ahead: map[int64]*aheadHost{},
	}, nil
}

// Start continues the work that the worker had before, then takes new work.
func (w *Worker) Start(ctx context.Context) error {
	held, err := w.cfg.Fabric.Held(ctx, w.cfg.Name)
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	if err := errors.Join(w.sweep(ctx), w.sweepPreviews(ctx, held)); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	renew, rest := context.WithCancel(context.WithoutCancel(ctx))
	w.cancel, w.rest = cancel, rest
	for _, l := range held {
		// No effect starts after its lease has expired: another worker might get
		// the item at any time.
		if l.Until.After(w.cfg.Now()) {
			w.execute(run, l)
		}
	}
	w.takers.Go(func() { w.takeLoop(run) })
	w.renewer.Go(func() { w.renewLoop(renew) })
	return nil
}

func (w *Worker) takeLoop(ctx context.Context) {
	woken := make(chan struct{}, 1)
	w.takers.Go(func() { w.waitLoop(ctx, woken) })
	for look, tries := groups, 0; ; {
		full, err := w.takeOnce(ctx, look)
		var again <-chan time.Time
		if tries++; err == nil || ctx.Err() != nil {
			tries = 0
		} else {
			w.cfg.Logger.Error("taking work failed; it is tried again", "try", tries, "error", err)
			again = time.After(w.backoff(tries))
		}
		select {
		case <-ctx.Done():
			return
		case <-woken:
			look = groups
		case <-again:
			look = full
		case <-w.freed:
			look = full // all other groups had capacity and no work
		}
	}
}

// waitLoop signals when work might be available.
func (w *Worker) waitLoop(ctx context.Context, woken chan struct{}) {
	for tries := 0; ctx.Err() == nil; {
		err := w.cfg.Fabric.Wait(ctx)
		if tries++; err == nil {
			tries = 0
		} else if ctx.Err() == nil {
			w.cfg.Logger.Error("waiting for work failed; it is tried again", "try", tries, "error", err)
			if w.pause(ctx, tries) != nil {
				return
			}
		}
		signal(woken) // also after an error, which might have hidden that there is work
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

var groups = []Group{GroupSession, GroupGit, GroupPush, GroupForge, GroupCheck, GroupHook}

// takeOnce takes the available work of some groups, as far as they have
// capacity. It returns the groups that might have more work than capacity.
func (w *Worker) takeOnce(ctx context.Context, look []Group) (full []Group, err error) {
	for len(look) > 0 {
		var wants []fabric.Want
		var tried []Group
		for _, g := range look {
			if free := w.free(g); free > 0 {
				wants, tried = append(wants, fabric.Want{Kinds: kindsOf(g), Most: free}), append(tried, g)
			} else {
				full = append(full, g)
			}
		}
		if len(wants) == 0 {
			break
		}
		leases, err := w.cfg.Fabric.TryTake(ctx, fabric.Request{Worker: w.cfg.Name, Pools: w.cfg.Pools, Wants: wants})
		if err != nil {
			return append(full, tried...), err
		}
		got := map[Group]int{}
		for _, l := range leases {
			got[executors[l.Work.Kind].group]++
			w.execute(ctx, l)
		}
		look = nil
		for i, g := range tried { // what was full has capacity again if an item ended at once
			if got[g] == wants[i].Most {
				look = append(look, g)
			}
		}
	}
	return full, nil
}

func kindsOf(g Group) []coppice.WorkKind {
	var kinds []coppice.WorkKind
	for k, e := range executors {
		if e.group == g {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// free returns how many more items of a group can be executed now.
func (w *Worker) free(g Group) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	most, ok := w.cfg.Capacity[g]
	if !ok {
		most = 64
	}
	return most - w.inUse[g]
}

// execute carries out one item in a separate goroutine and reports the result. A
// lost lease cancels it, unless the effect is whole.
func (w *Worker) execute(ctx context.Context, l coppice.Lease) {
	if ctx.Err() != nil {
		return // the worker stops; the item stays leased to it and is started after the restart
	}
	e, ok := executors[l.Work.Kind]
	own, cancel := context.WithCancelCause(ctx)
	if e.whole {
		ctx = workspace.WithStop(context.WithoutCancel(ctx), w.hurry)
	} else {
		ctx = own
	}
	w.mu.Lock()
	w.held[l.Work.ID] = holding{l, cancel}
	w.inUse[e.group]++
	w.mu.Unlock()
	w.wg.Go(func() {
		defer cancel(nil)
		defer func() {
			w.mu.Lock()
			delete(w.held, l.Work.ID)
			w.inUse[e.group]--
			w.mu.Unlock()
			signal(w.freed)
		}()
		if !ok {
			w.finish(ctx, l, nil, coppice.Failf(coppice.ClassCapability, fmt.Sprintf("this worker cannot do %s", l.Work.Kind), "upgrade it"))
			return
		}
		res, err := e.do(w, ctx, l)
		if ctx.Err() != nil {
			return // stopped or lost: the next holder of the item repeats it
		}
		w.finish(ctx, l, res, failure(err))
	})
}

// failure returns the failure that an error is, or means.
func failure(err error) *coppice.Failure {
	if err == nil {
		return nil
	}
	var f *coppice.Failure
	if errors.As(err, &f) {
		return f
	}
	var e *coppice.Error
	if errors.As(err, &e) {
		return coppice.Failf(coppice.ClassEnvironment, e.Cause, e.Fix)
	}
	return coppice.Failf(coppice.ClassEnvironment, err.Error(), "see the server's log")
}

func (w *Worker) finish(ctx context.Context, l coppice.Lease, res any, fail *coppice.Failure) {
	var raw json.RawMessage
	if fail == nil {
		raw = coppice.Raw(res)
	} else {
		w.cfg.Logger.Warn("work failed", "kind", string(l.Work.Kind), "key", l.Work.Key, "class", string(fail.Class), "error", fail.Text)
	}
	for {
		err := w.cfg.Fabric.Finish(ctx, l, raw, fail)
		switch {
		case err == nil:
			w.accepted(l)
			return
		case errors.Is(err, fabric.ErrLost) || ctx.Err() != nil:
			return
		}
		// The result is valid, but the control process could not store it, for
		// example because of a full disk. It is reported again: delivery is at
		// least once.
		w.cfg.Logger.Error("reporting a result failed", "key", l.Work.Key, "error", err)
		if w.stops() || w.pause(ctx, 1) != nil {
			return // the effect is repeated after the restart, which is safe
		}
	}
}

// mostBackoff limits how often the pause before a further try doubles.
const mostBackoff = 5

// backoff returns the pause after a number of failed tries in a row.
func (w *Worker) backoff(tries int) time.Duration {
	return w.cfg.Retry << min(max(tries-1, 0), mostBackoff)
}

// pause waits before a further try.
func (w *Worker) pause(ctx context.Context, tries int) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(w.backoff(tries)):
		return nil
	}
}

// accepted cleans up after a result that is committed.
func (w *Worker) accepted(l coppice.Lease) {
	dir := w.sessionDir(l.Work.SessionID)
	switch l.Work.Kind {
	case coppice.WorkRun:
	case coppice.WorkPreview:
		s, err := coppice.DecodeSpec[coppice.PreviewSpec](l.Work)
		if err != nil {
			return
		}
		dir = w.previewDir(s.Task, fmt.Sprint(s.ID))
	default:
		return
	}
	if err := host.Clean(dir); err != nil {
		w.cfg.Logger.Warn("cleaning up after a session failed", "directory", dir, "error", err)
	}
}

// renewLoop renews the leases, and cancels effects whose lease is lost.
func (w *Worker) renewLoop(ctx context.Context) {
	tick := time.NewTicker(w.cfg.Renew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := w.renewOnce(ctx); err != nil && ctx.Err() == nil {
				w.cfg.Logger.Error("renewing leases failed", "error", err)
			}
		}
	}
}

func (w *Worker) renewOnce(ctx context.Context) error {
	w.mu.Lock()
	leases := make([]coppice.Lease, 0, len(w.held))
	for _, h := range w.held {
		leases = append(leases, h.lease)
	}
	w.mu.Unlock()
	if len(leases) == 0 {
		return nil
	}
	lost, err := w.cfg.Fabric.Renew(ctx, leases)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range lost {
		if h, ok := w.held[l.Work.ID]; ok && h.lease.Attempt == l.Attempt {
			h.cancel(fabric.ErrLost)
		}
	}
	return nil
}
