// Package checkout follows the files of a project's checkout and applies them:
// the policy in coppice.yaml, the features file, the position of the base, and
// the files that a landing waits for. A change that a person has to confirm
// becomes a need of the project.
package checkout

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"coppice"
	"coppice/engine"
	"coppice/features"
	"coppice/internal/clock"
	"coppice/store"
	"coppice/workspace"
)

// quiet is how long a features file has to stay broken, or missing, before that
// is reported: editors write files in several steps.
const quiet = 300 * time.Millisecond

// Config configures a Follower. Every field is required.
type Config struct {
	Store  store.Store
	Intake *engine.Intake // asks in the name of a person
	Spaces *workspace.Workspaces
	Old    string // where earlier versions stored the state of features files
	Redact func(string) string
	Clock  clock.Clock
	Log    *slog.Logger
}

// Follower keeps projects in step with their checkouts: tasks with the features
// file, the policy with coppice.yaml, landings with the files that block them.
// It sleeps until a file or a task changes. It does not poll.
type Follower struct {
	store  store.Store
	person *engine.Intake // asks in the name of a person
	intake *engine.Intake // asks in the name of the follower itself
	spaces *workspace.Workspaces
	old    string
	redact func(string) string
	clock  clock.Clock
	log    *slog.Logger

	watcher  *fsnotify.Watcher
	waits    *waits // landings that wait for files of their checkouts
	projects map[int64]*featureProject
	policies map[int64]*policyProject // of all projects
	seq      int64                    // how far the log has been read
	start    int64                    // the newest event before this server started
	asks     chan func()              // functions to run between two events
	turned   func()                   // called before the loop waits; for tests

	mu       sync.Mutex
	warnings map[int64]map[source][]string // by project
	lists    map[int64]*features.List      // by project
}

// New makes a Follower. Sessions that end after this call count as having run
// since the files were last read, so call it before the server starts anything.
func New(ctx context.Context, c Config) (*Follower, error) {
	s := &Follower{
		store: c.Store, person: c.Intake, intake: c.Intake.As(coppice.Actor{Kind: coppice.ActorEngine, Name: "checkout"}),
		spaces: c.Spaces, old: c.Old, redact: c.Redact, clock: c.Clock, log: c.Log, asks: make(chan func()), lists: map[int64]*features.List{},
	}
	var err error
	s.start, err = s.position(ctx)
	return s, err
}

// Run keeps everything in step until ctx ends.
func (s *Follower) Run(ctx context.Context) error {
	var err error
	if s.watcher, err = fsnotify.NewWatcher(); err != nil {
		s.log.Error("features files cannot be watched", "error", err)
		return err
	}
	defer s.watcher.Close() // nothing was written
	if s.waits, err = newWaits(s.intake, s.clock, s.log); err != nil {
		s.log.Error("checkouts cannot be watched", "error", err)
		return err
	}
	defer s.waits.watcher.Close() // nothing was written
	s.waits.moved = s.baseMoved
	s.projects, s.policies = map[int64]*featureProject{}, map[int64]*policyProject{}
	for err := s.begin(ctx); err != nil; err = s.begin(ctx) {
		s.log.Error("features files cannot be followed", "error", err)
		if !s.rest(ctx, tryAgain) {
			return nil
		}
	}
	news, ack := make(chan struct{}), make(chan int64)
	var follower sync.WaitGroup
	defer follower.Wait()
	follow, stop := context.WithCancel(ctx)
	defer stop()
	from := s.seq
	follower.Go(func() { s.follow(follow, from, news, ack) })
	for {
		timer := s.clock.NewTimer(s.untilNextRetry())
		if s.turned != nil {
			s.turned()
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case ev := <-s.watcher.Events:
			s.touched(ctx, ev)
		case err := <-s.watcher.Errors:
			s.log.Warn("watching features files", "error", err)
			s.readAll(ctx) // an overflow might have dropped events
		case ev := <-s.waits.watcher.Events:
			s.waits.touched(filepath.Clean(ev.Name))
		case err := <-s.waits.watcher.Errors:
			s.log.Warn("watching checkouts", "error", err)
			s.waits.all() // an overflow might have dropped events
		case <-news:
			if err := s.read(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("reading the log for features failed", "error", err)
				s.rest(ctx, tryAgain) // reading resumes at the same event
			}
			select {
			case ack <- s.seq:
			case <-ctx.Done():
			}
		case f := <-s.asks:
			f()
		case <-timer.C:
			s.retryDue(ctx)
		}
		timer.Stop()
	}
}

// tryAgain is how long to wait after a failed read of the store.
const tryAgain = time.Second

// rest waits, and reports whether to continue.
func (s *Follower) rest(ctx context.Context, d time.Duration) bool {
	return clock.Sleep(ctx, s.clock, d) == nil
}

// begin reads every project for the first time.
func (s *Follower) begin(ctx context.Context) error {
	err := s.store.View(ctx, func(r store.Reader) (err error) {
		_, s.seq, err = r.Log.Bounds()
		return err
	})
	if err == nil {
		err = s.adopt(ctx)
	}
	if err != nil {
		return err
	}
	return s.reload(ctx)
}

// longest is how long the loop waits if nothing is due.
const longest = time.Hour

// untilNextRetry returns how long to wait for the next second look.
func (s *Follower) untilNextRetry() time.Duration {
	now := s.clock.Now()
	next := s.waits.next(now.Add(longest))
	for _, p := range s.projects {
		next = earlier(earlier(earlier(next, p.suspect), p.again), p.owed)
	}
	for _, p := range s.policies {
		next = earlier(next, p.due)
	}
	return max(next.Sub(now), 0)
}

// earlier returns the earlier of two times. A zero second one does not count.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// due reports whether the time of a second look has come.
func due(c clock.Clock, at time.Time) bool { return !at.IsZero() && !c.Now().Before(at) }

// retryDue reads files again that were broken or missing a moment ago, and
// retries what failed.
func (s *Follower) retryDue(ctx context.Context) {
	s.waits.retry(ctx)
	for _, id := range slices.Sorted(maps.Keys(s.policies)) {
		if p := s.policies[id]; due(s.clock, p.due) {
			s.reread(ctx, p)
		}
	}
	for _, id := range s.order() {
		p := s.projects[id]
		if due(s.clock, p.suspect) {
			s.readFeatures(ctx, p, true)
		}
		if due(s.clock, p.again) {
			p.again, p.refused = time.Time{}, nil
			s.turn(ctx, p)
		}
		if due(s.clock, p.owed) {
			p.owed = time.Time{}
			s.turn(ctx, p)
		}
	}
}

func (s *Follower) readAll(ctx context.Context) {
	for _, p := range s.policies {
		p.due = s.clock.Now().Add(quiet)
	}
	for _, id := range s.order() {
		s.watch(s.projects[id])
		s.readFeatures(ctx, s.projects[id], false)
	}
}

func (s *Follower) order() []int64 { return slices.Sorted(maps.Keys(s.projects)) }

// watch watches the folders around a features file. Watching one twice is safe.
func (s *Follower) watch(p *featureProject) {
	p.names = map[string]bool{}
	root := filepath.Clean(p.file.Root)
	for _, f := range p.file.Paths() {
		p.names[filepath.Join(root, filepath.FromSlash(f))] = true
	}
	p.unwatched = ""
	for _, f := range p.file.Folders() {
		dir := filepath.Join(root, filepath.FromSlash(f))
		p.names[dir] = true
		if err := s.watcher.Add(dir); err != nil && !missing(err) {
			p.unwatched = p.file.Name + ": Coppice does not see edits: " + err.Error()
			s.log.Error("a features file cannot be watched", "project", p.project.Prefix, "folder", dir, "error", err)
		}
	}
}

// touched handles an event in a watched folder.
func (s *Follower) touched(ctx context.Context, ev fsnotify.Event) {
	for _, p := range s.policies {
		if p.concerns(filepath.Clean(ev.Name)) {
			p.due = s.clock.Now().Add(quiet)
		}
	}
	for _, id := range s.order() {
		p := s.projects[id]
		if !p.names[filepath.Clean(ev.Name)] {
			continue
		}
		if ev.Has(fsnotify.Create) || ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
			s.watch(p) // a folder or a link might have been replaced
		}
		s.readFeatures(ctx, p, false)
	}
}
