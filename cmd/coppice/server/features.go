package server

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
	"coppice/store"
	"coppice/workspace"
)

// quiet is how long a features file has to stay broken, or away, before that
// is reported: editors write files in several steps.
const quiet = 300 * time.Millisecond

// featureSync keeps projects in step with what stands in their checkouts: tasks
// with the features file, the policy with coppice.yaml, landings with the files
// that are in their way. It sleeps until a file or a task changes; nothing is
// polled.
type featureSync struct {
	store   store.Store
	intake  *engine.Intake
	inspect func(ctx context.Context, known coppice.Project) (coppice.Project, error)
	origin  func(ctx context.Context, root string, files []string) (workspace.Origin, error)
	moved   func(ctx context.Context, dir, base, from, to string) (*coppice.Need, error) // judges a base that moved
	dir     string                                                                       // remembers what was last agreed on, a file for each project
	redact  func(string) string
	now     func() time.Time
	log     *slog.Logger

	watcher  *fsnotify.Watcher
	waits    *waits // landings that wait for files of their checkouts
	projects map[int64]*featureProject
	policies map[int64]*policyProject // of all projects
	seq      int64                    // how far the log has been read
	start    int64                    // the newest event before anything of this server ran
	asks     chan func()              // what others want done in between

	mu       sync.Mutex
	warnings map[int64]map[source][]string // by project
}

// source is what a warning is about, and who says so in the log.
type source string

const (
	fromPolicy   source = "policy"
	fromFeatures source = "features"
)

// Warnings tells what is wrong with a project's policy and features file.
func (s *featureSync) Warnings(project int64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat(s.warnings[project][fromPolicy], s.warnings[project][fromFeatures])
}

// run keeps everything in step until ctx ends.
func (s *featureSync) run(ctx context.Context) error {
	var err error
	if s.watcher, err = fsnotify.NewWatcher(); err != nil {
		s.log.Error("features files cannot be watched", "error", err)
		return err
	}
	defer s.watcher.Close() // nothing was written
	if s.waits, err = newWaits(s.intake, s.log); err != nil {
		s.log.Error("checkouts cannot be watched", "error", err)
		return err
	}
	defer s.waits.watcher.Close() // nothing was written
	s.projects, s.policies = map[int64]*featureProject{}, map[int64]*policyProject{}
	for err := s.begin(ctx); err != nil; err = s.begin(ctx) {
		s.log.Error("features files cannot be followed", "error", err)
		if !rest(ctx) {
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
		timer := time.NewTimer(s.patience())
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case ev := <-s.watcher.Events:
			s.touched(ctx, ev)
		case err := <-s.watcher.Errors:
			s.log.Warn("watching features files", "error", err)
			s.lookAtAll(ctx) // an overflow may have swallowed something
		case ev := <-s.waits.watcher.Events:
			s.waits.touched(filepath.Clean(ev.Name))
		case err := <-s.waits.watcher.Errors:
			s.log.Warn("watching checkouts", "error", err)
			s.waits.all() // an overflow may have swallowed something
		case <-news:
			if err := s.read(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("reading the log for features failed", "error", err)
				rest(ctx) // it is read again from where it was
			}
			select {
			case ack <- s.seq:
			case <-ctx.Done():
			}
		case f := <-s.asks:
			f()
		case <-timer.C:
			s.secondLooks(ctx)
		}
		timer.Stop()
	}
}

// rest waits before something that failed is tried again, and tells whether to.
func rest(ctx context.Context) bool {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// begin looks at every project for the first time.
func (s *featureSync) begin(ctx context.Context) error {
	err := s.store.View(ctx, func(r store.Reader) (err error) {
		_, s.seq, err = r.Log.Bounds()
		return err
	})
	if err != nil {
		return err
	}
	return s.reload(ctx)
}

// gather is how long news is left to gather: a task that moves on does so in
// several steps, and one look sees them all.
const gather = 100 * time.Millisecond

// follow tells when the log has grown.
func (s *featureSync) follow(ctx context.Context, seq int64, news chan<- struct{}, ack <-chan int64) {
	for {
		if err := s.store.WaitEvent(ctx, seq); err != nil {
			return // only ends with ctx, or with the store
		}
		select {
		case <-time.After(gather):
		case <-ctx.Done():
			return
		}
		select {
		case news <- struct{}{}:
		case <-ctx.Done():
			return
		}
		select {
		case seq = <-ack:
		case <-ctx.Done():
			return
		}
	}
}

// patience is how long to wait for the next second look to be due.
func (s *featureSync) patience() time.Duration {
	wait := s.waits.patience(time.Hour)
	for _, p := range s.projects {
		for _, at := range []time.Time{p.suspect, p.again} {
			if !at.IsZero() {
				wait = min(wait, max(time.Until(at), 0))
			}
		}
	}
	for _, p := range s.policies {
		if !p.due.IsZero() {
			wait = min(wait, max(time.Until(p.due), 0))
		}
	}
	return wait
}

// secondLooks looks again at files that were broken or away a moment ago, and
// tries again what failed.
func (s *featureSync) secondLooks(ctx context.Context) {
	due := func(at time.Time) bool { return !at.IsZero() && !time.Now().Before(at) }
	s.waits.retry(ctx)
	for _, id := range slices.Sorted(maps.Keys(s.policies)) {
		if p := s.policies[id]; due(p.due) {
			s.reread(ctx, p)
		}
	}
	for _, id := range s.order() {
		p := s.projects[id]
		if due(p.suspect) {
			s.look(ctx, p, true)
		}
		if due(p.again) {
			p.again, p.refused = time.Time{}, nil
			s.turn(ctx, p)
		}
	}
}

func (s *featureSync) lookAtAll(ctx context.Context) {
	for _, p := range s.policies {
		p.due = time.Now().Add(quiet)
	}
	for _, id := range s.order() {
		s.watch(s.projects[id])
		s.look(ctx, s.projects[id], false)
	}
}

func (s *featureSync) order() []int64 { return slices.Sorted(maps.Keys(s.projects)) }

// reload reads the projects and their policies.
func (s *featureSync) reload(ctx context.Context) error {
	var list []coppice.Project
	first := map[int64]string{}
	err := s.store.View(ctx, func(r store.Reader) (err error) {
		if list, err = r.Projects.All(); err != nil {
			return err
		}
		for _, p := range list {
			if first[p.ID], err = waitsFor(r, p.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(p coppice.Project) bool { return p.Removal != nil })
	here := map[int64]bool{}
	for _, project := range list {
		here[project.ID] = true
	}
	// Of a project that is removed nothing is followed; its watches are of no
	// consequence.
	maps.DeleteFunc(s.projects, func(id int64, _ *featureProject) bool { return !here[id] })
	maps.DeleteFunc(s.policies, func(id int64, _ *policyProject) bool { return !here[id] })
	for _, project := range list {
		s.waits.follow(project, first[project.ID])
		s.followPolicy(ctx, project)
		p := s.projects[project.ID]
		switch {
		case project.Policy.Features == "":
			if p != nil {
				delete(s.projects, project.ID) // its watches are of no consequence
				s.warn(ctx, project, fromFeatures, nil)
			}
			continue
		case p == nil || p.file.Name != project.Policy.Features || p.file.Root != project.Path:
			if p, err = s.open(ctx, project); err != nil {
				return err
			}
			s.projects[project.ID] = p
			s.watch(p)
			s.look(ctx, p, false)
		case string(coppice.Raw(p.project.Policy)) != string(coppice.Raw(project.Policy)):
			p.project, p.refused = project, nil
			s.turn(ctx, p)
		}
	}
	return nil
}

// followPolicy takes over how a project is now. The first time, its policy is
// read as well: it may have been edited while nobody looked.
func (s *featureSync) followPolicy(ctx context.Context, project coppice.Project) {
	p := s.policies[project.ID]
	if p == nil {
		p = &policyProject{project: project, due: time.Now(), seq: s.start}
		s.policies[project.ID] = p
	}
	if p.project.Path != project.Path || !samePolicy(p.project.Policy, project.Policy) {
		p.problem = "" // somebody has said what is in force
		p.due = time.Now()
	}
	p.project = project
	s.warnPolicy(ctx, p)
}

// open begins to follow a project.
func (s *featureSync) open(ctx context.Context, project coppice.Project) (*featureProject, error) {
	p := &featureProject{
		project: project, file: features.File{Root: project.Path, Name: project.Policy.Features},
		tasks: map[string]coppice.Task{}, roles: map[string]coppice.Role{}, seen: s.remembered(project.ID), seq: s.start,
	}
	return p, s.store.View(ctx, func(r store.Reader) error {
		tasks, err := r.Tasks.List(store.TaskFilter{ProjectID: project.ID, OldFirst: true})
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if _, err := s.learn(r, p, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// learn takes a task over and tells whether that changes what its feature's
// status should be.
func (s *featureSync) learn(r store.Reader, p *featureProject, t coppice.Task) (bool, error) {
	old, had := p.tasks[t.Feature]
	if t.Feature == "" || had && old.ID > t.ID {
		return false, nil
	}
	if t.Ended() {
		asks, err := r.Asks.Open(coppice.TaskSubject(t.ID))
		if err != nil {
			return false, err
		}
		if coppice.Asked(asks, coppice.VerbRetry, coppice.VerbRequeue, coppice.VerbContinue) != nil {
			t = features.Again(t)
		}
	}
	role := coppice.Role("")
	if t.Stage == coppice.StageSession {
		last, err := r.Sessions.Last(t.ID)
		if err != nil {
			return false, err
		}
		if last != nil {
			role = last.Role
		}
	}
	if t.Failure != nil {
		f := *t.Failure
		f.Text = s.redact(f.Text)
		t.Failure = &f
	}
	before := features.Derive(t.Feature, old, p.roles[t.Feature])
	p.tasks[t.Feature], p.roles[t.Feature] = t, role
	return !had || before != features.Derive(t.Feature, t, role), nil
}

// read takes over what the log tells since the last time.
func (s *featureSync) read(ctx context.Context) error {
	const page = 1000
	changed, policies, seq := map[*featureProject]bool{}, false, s.seq
	paused, first, ended := map[int64]coppice.Project{}, map[int64]string{}, map[int64]bool{}
	err := s.store.View(ctx, func(r store.Reader) error {
		for {
			events, err := r.Log.Events(seq, page, store.EventFilter{})
			if err != nil {
				return err
			}
			tasks, touched := map[int64]*featureProject{}, map[int64]bool{}
			for _, ev := range events {
				seq, touched[ev.ProjectID] = ev.Seq, true
				ended[ev.ProjectID] = ended[ev.ProjectID] || ev.Kind == coppice.EventSessionEnded
				policies = policies || ev.Kind == coppice.EventProjectAdded || ev.Kind == coppice.EventProjectChanged || ev.Kind == coppice.EventProjectRemoved
				if p := s.projects[ev.ProjectID]; p != nil && ev.TaskID != 0 {
					tasks[ev.TaskID] = p
				}
			}
			for _, id := range slices.Sorted(maps.Keys(tasks)) {
				t, err := r.Tasks.Get(id)
				if coppice.ErrorCode(err) == coppice.ENotFound {
					continue // it was removed with its project
				}
				if err != nil {
					return err
				}
				news, err := s.learn(r, tasks[id], t)
				if err != nil {
					return err
				}
				changed[tasks[id]] = changed[tasks[id]] || news
			}
			for id := range touched {
				if s.policies[id] == nil {
					continue
				}
				p, err := r.Projects.Get(id)
				if coppice.ErrorCode(err) == coppice.ENotFound {
					continue // it was removed
				}
				if err != nil {
					return err
				}
				if paused[id] = p; p.Removal != nil {
					continue
				}
				if first[id], err = waitsFor(r, id); err != nil {
					return err
				}
			}
			if len(events) < page {
				return nil
			}
		}
	})
	if err != nil {
		return err
	}
	if policies {
		if err := s.reload(ctx); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(paused)) {
		s.waits.follow(paused[id], first[id])
		if p := s.policies[id]; p != nil && !maps.Equal(p.project.PausedTracks, paused[id].PausedTracks) {
			p.project.PausedTracks = paused[id].PausedTracks
			s.warnPolicy(ctx, p)
		}
	}
	s.seq = seq
	for _, id := range slices.Sorted(maps.Keys(ended)) {
		if ended[id] {
			s.glance(ctx, id)
		}
	}
	for _, id := range s.order() {
		if p := s.projects[id]; changed[p] {
			s.turn(ctx, p)
		}
	}
	return nil
}

// watch asks to be told of everything that happens around a file. What is
// watched already is watched on.
func (s *featureSync) watch(p *featureProject) {
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
			p.unwatched = p.file.Name + ": edits are not noticed: " + err.Error()
			s.log.Error("a features file cannot be watched", "project", p.project.Prefix, "folder", dir, "error", err)
		}
	}
}

// touched acts on something that happened in a watched folder.
func (s *featureSync) touched(ctx context.Context, ev fsnotify.Event) {
	for _, p := range s.policies {
		if p.concerns(filepath.Clean(ev.Name)) {
			p.due = time.Now().Add(quiet)
		}
	}
	for _, id := range s.order() {
		p := s.projects[id]
		if !p.names[filepath.Clean(ev.Name)] {
			continue
		}
		if ev.Has(fsnotify.Create) || ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
			s.watch(p) // a folder or a link may be another one now
		}
		s.look(ctx, p, false)
	}
}

// warn makes the warnings of a project known: what is new goes into its events
// and the log first, so that whoever sees a warning finds its event.
func (s *featureSync) warn(ctx context.Context, p coppice.Project, about source, list []string) {
	s.mu.Lock()
	old := s.warnings[p.ID][about] // nobody else changes them
	s.mu.Unlock()
	var fresh []string
	for _, w := range list {
		if !slices.Contains(old, w) {
			fresh = append(fresh, w)
		}
	}
	s.say(ctx, p, about, fresh)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warnings == nil {
		s.warnings = map[int64]map[source][]string{}
	}
	if s.warnings[p.ID] == nil {
		s.warnings[p.ID] = map[source][]string{}
	}
	s.warnings[p.ID][about] = list
}

// say puts sentences into the project's events and the log.
func (s *featureSync) say(ctx context.Context, p coppice.Project, about source, list []string) {
	if len(list) == 0 {
		return
	}
	var events []*coppice.Event
	for _, text := range list {
		s.log.Warn("a project's checkout", "project", p.Prefix, "about", about, "warning", text)
		events = append(events, &coppice.Event{
			At: s.now().UTC(), Kind: coppice.EventProjectWarned, ProjectID: p.ID, Subject: p.Prefix, By: string(about), Reason: text,
		})
	}
	if err := s.store.Update(ctx, func(tx store.Tx) error { return tx.Log.Append(events...) }); err != nil && ctx.Err() == nil {
		s.log.Error("a warning could not be kept", "error", err)
	}
}
