// Package sim runs the real engine, store and fabric in a world of virtual
// time, random agents and people, workers that crash, and deliveries that get
// lost or come twice. One seed is one history: it replays exactly.
package sim

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/fabric"
	"coppice/fabric/local"
	"coppice/ingest"
	"coppice/internal/redact"
	"coppice/store"
	"coppice/store/sqlite"
)

// Options shapes a simulation.
type Options struct {
	Seed  uint64
	Tasks int  // how many tasks people ask for
	Steps int  // how many random steps are taken before the world calms down
	Plain bool // people only stop, retry, land, send, answer and undo, and no check is killed
	Kills bool // killed checks are the only faults of the environment
	Asks  bool // a project has one session, and agents ask a lot
	Red   bool // people break the base and fix it, and agents often change nothing

	Limits bool // sessions and accounts have low limits, and agents write a lot

	Retries bool // sessions fail often, and there is always another agent

	Locks bool // agents lock files, and sessions run long

	Remove bool // a project is removed halfway

	Family bool // a project has one session, and agents create tasks and wait for them
	Hooks  bool // every event has hooks, and landings wait for one
	Flows  bool // people create flows and schedules
	Pulls  bool // work lands by pull requests
	Notify bool // people get messages, and receivers fail
	Issues bool // issues of a tracker become tasks
}

// Report is what a simulation showed.
type Report struct {
	Digest  uint64 // of the whole event log
	Events  int64
	Done    int
	Failed  int
	Other   int
	Steps   int
	Virtual time.Duration
	Killed  int // runs of checks
	parks
	limited
	decided
	retries
	hooks
	locked
	families
	flows
	pulls
	notified
	issues
}

// mostSessions is how many sessions of all projects run at once.
const mostSessions = 6

// logged is how many of the newest events a failure shows.
var logged = 30

var errInjected = errors.New("sim: injected fault")

// sim is one history.
type sim struct {
	ctx      context.Context
	opt      Options
	rng      *rand.Rand
	kills    *rand.Rand // of what happens to checks
	parking  *rand.Rand // of what concerns parked sessions
	reviews  *rand.Rand // of what people do about candidates that wait for them
	caps     *rand.Rand // of limits of sessions, and of budgets of accounts
	budgets  map[string]coppice.USD
	choices  *rand.Rand // of what concerns red bases and sessions without changes
	decided  decided
	undoing  *rand.Rand // of what people undo
	retries  *rand.Rand // of what follows failed sessions
	kin      *rand.Rand // of what agents do with the tools for work
	families families
	calls    int // number of calls
	hooking  *hooking
	approved map[string]bool
	parked   map[string]bool // sessions that were parked after a turn, by key
	locks    *locking
	flowing  *flowing
	pulling  *pulling
	tracking *tracking // nil unless Options.Issues is set

	notifying *notifying

	diskFree  uint64         // bytes of the disk; 0 is unknown
	diagnosed map[int64]bool // sessions that got a diagnosis
	judged    judgements
	parks     parks
	now       time.Time
	start     time.Time
	world     *world
	st        store.Store
	fault     *faulty
	eng       *engine.Engine
	intake    *engine.Intake
	fab       *local.Fabric
	ledger    fabric.Ledger
	works     []*worker
	projects  []coppice.Project
	keys      []string // of all tasks ever made
	owed      int      // tasks not asked for yet
	calm      bool     // no more faults
	removing  bool     // the project p is being removed,
	gone      bool     // and is gone
	made      int
	forks     int
	requeued  map[string][]requeued // by task
	due       time.Time
	steps     int
	path      []string
}

// worker is one worker's memory: what it holds and how far it has come. A crash
// empties it.
type worker struct {
	name  string
	items []*item
}

type item struct {
	lease coppice.Lease
	done  bool // it is over; its result is not reported yet
	res   any
	fail  *coppice.Failure
}

// Run plays one history and returns an error naming the promise it broke.
func Run(ctx context.Context, opt Options) (Report, error) {
	s, err := newSim(ctx, opt)
	if err != nil {
		return Report{}, err
	}
	defer s.st.Close()
	for s.steps = 0; s.steps < opt.Steps; s.steps++ {
		if err := s.step(); err != nil {
			return Report{}, s.tell(err)
		}
	}
	if err := s.removeAll(); err != nil {
		return Report{}, s.tell(err)
	}
	if err := s.settle(); err != nil {
		return Report{}, s.tell(err)
	}
	for range 3 { // in the end most tasks have landed: people take some off again
		taken, err := s.revertSome()
		if err == nil && taken {
			err = s.settle()
		}
		if err != nil {
			return Report{}, s.tell(err)
		}
	}
	if err := s.sendAll(); err != nil {
		return Report{}, s.tell(err)
	}
	return s.report()
}

func (s *sim) tell(err error) error {
	tail := s.path
	if len(tail) > 25 {
		tail = tail[len(tail)-25:]
	}
	return fmt.Errorf("seed %d, step %d: %w\nlast steps: %q\nlast events:\n%s", s.opt.Seed, s.steps, err, tail, s.log(logged))
}

// log renders the newest events.
func (s *sim) log(most int) string {
	var b strings.Builder
	_ = s.st.View(s.ctx, func(r store.Reader) error {
		_, last, err := r.Log.Bounds()
		if err != nil {
			return err
		}
		events, err := r.Log.Events(max(0, last-int64(most)), most, store.EventFilter{})
		for _, e := range events {
			fmt.Fprintf(&b, "  %d %s %s %s %s: %s\n", e.Seq, e.At.Format("2 15:04:05"), e.By, e.Kind, e.Subject, e.Reason)
		}
		return err
	})
	return b.String()
}

func newSim(ctx context.Context, opt Options) (*sim, error) {
	st, err := sqlite.Open(ctx, sqlite.Config{Path: ":memory:", Sync: "off"})
	if err != nil {
		return nil, err
	}
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	rng := rand.New(rand.NewPCG(opt.Seed, 42))
	s := &sim{ctx: ctx, opt: opt, rng: rng, now: start, start: start, owed: opt.Tasks, requeued: map[string][]requeued{}}
	s.undoing = rand.New(rand.NewPCG(opt.Seed, 48))
	s.parking, s.reviews = rand.New(rand.NewPCG(opt.Seed, 44)), rand.New(rand.NewPCG(opt.Seed, 45))
	s.caps, s.choices, s.approved = rand.New(rand.NewPCG(opt.Seed, 46)), rand.New(rand.NewPCG(opt.Seed, 47)), map[string]bool{}
	s.parked = map[string]bool{}
	s.locks = newLocking(opt.Seed)
	s.retries, s.diagnosed = rand.New(rand.NewPCG(opt.Seed, 49)), map[int64]bool{}
	s.kin = rand.New(rand.NewPCG(opt.Seed, 50))
	s.flowing = newFlowing(opt.Seed)
	s.kills, s.judged = rand.New(rand.NewPCG(opt.Seed, 43)), judgements{against: map[string]bool{}, late: map[string]int{}, kills: map[string]int{}}
	s.world = newWorld(fmt.Sprint(opt.Seed), []int{0, 4, 8, 16}[rng.IntN(4)])
	if opt.Hooks {
		s.hooking = newHooking(opt.Seed)
	}
	if opt.Notify {
		s.notifying = newNotifying(opt.Seed)
	}
	if opt.Pulls {
		s.pulling = newPulling(opt.Seed)
	}
	if opt.Issues {
		s.tracking = newTracking(s, opt.Seed)
	}
	s.fault = &faulty{Store: st, rng: rng}
	s.st = s.fault
	if err := s.boot(); err != nil {
		return nil, err
	}
	if err := s.budgeted(); err != nil {
		return nil, err
	}
	projects := 1 + rng.IntN(2)
	if opt.Flows {
		projects = 1
	}
	for range projects {
		if err := s.addProject(); err != nil {
			return nil, err
		}
	}
	for n := range 1 + rng.IntN(3) {
		s.works = append(s.works, &worker{name: fmt.Sprintf("w%d", n)})
	}
	return s, nil
}

// boot restarts the control process. Facts that it had not written are lost.
func (s *sim) boot() error {
	clock := func() time.Time { return s.now }
	ledger, err := ingest.New(ingest.Config{Store: s.st, Now: clock, Worker: "worker", Redact: redact.New()})
	if err != nil {
		return err
	}
	s.ledger, s.fab = ledger, local.New(local.Config{Store: s.st, Now: clock, Accept: ledger.Accept})
	if err := s.fab.Announce(s.ctx, coppice.Node{Name: engine.PoolLocal, MemoryTotal: 100, MemoryUsed: 1, DiskFree: s.diskFree}); err != nil {
		return err
	}
	eng, err := engine.New(engine.Config{Store: s.st, Now: clock, Nodes: s.fab.Nodes, MaxSessions: mostSessions, Reserve: 1, Models: models, Resumes: resumes, Hooks: s.userHooks, Usable: usable, Notify: s.notifyPolicy, Looking: s.lookingUntil})
	if err != nil {
		return err
	}
	s.eng = eng
	s.intake = engine.NewIntake(s.st, clock, s.inspect, func(coppice.Project, string) error { return nil }, hasScreen, engine.WithUsable(usable), engine.WithNotify(s.notifyPolicy))
	return s.serverStarts()
}

func (s *sim) inspect(_ context.Context, dir string) (coppice.Project, error) {
	p := coppice.DefaultPolicy()
	p.Base = "main"
	p.Agent = coppice.AgentChoice{Use: "alpha"}
	if s.rng.IntN(2) == 0 {
		p.Agent.Fallback = []string{"beta"}
	}
	s.modelled(&p)
	p.Limits.Sessions = 1 + s.rng.IntN(4)
	p.Limits.PerAgent = map[string]int{"beta": 1}
	p.Tracks = append(p.Tracks, coppice.Track{Name: "side", Limit: 1})
	p.Verify.Attempts = s.rng.IntN(4)
	p.Retry.Max = s.rng.IntN(4) * (1 + s.retries.IntN(2))
	p.Retry.Policy, p.Verify.Completion = s.retryPolicy(), s.completion()
	for n := range s.rng.IntN(3) {
		p.Checks = append(p.Checks, fmt.Sprintf("check %d", n))
	}
	if s.rng.IntN(4) == 0 {
		p.Land.How = coppice.LandBranch
	}
	if !s.opt.Plain && s.rng.IntN(8) == 0 {
		p.Land.How = coppice.LandReview
	}
	if !s.opt.Plain && s.reviews.IntN(3) == 0 {
		p.Land.Ask = coppice.LandAsk{Paths: []string{"f1", "f2"}, Lines: s.reviews.IntN(3), Categories: []string{"secret"}}
	}
	p.Land.Push = !s.opt.Plain && s.rng.IntN(3) == 0
	if !s.opt.Plain && s.rng.IntN(3) == 0 {
		p.Budget.Task = coppice.USD(1 + s.rng.IntN(4))
	}
	if !s.opt.Plain && s.rng.IntN(3) == 0 {
		p.Budget.Day = coppice.USD(3 + s.rng.IntN(9))
	}
	if !s.opt.Plain && s.rng.IntN(2) == 0 {
		p.Health.Timeout = coppice.Duration(time.Minute)
	}
	if !s.opt.Plain {
		p.Verify.By = []string{"", "", coppice.VerifyAgent, coppice.VerifyNone}[s.rng.IntN(4)]
		if s.rng.IntN(3) == 0 {
			p.Agent.Roles = map[coppice.Role]string{coppice.RoleVerify: "beta"}
		}
	}
	s.capped(&p)
	s.hooked(&p)
	p.Limits.Parked = s.parking.IntN(4)
	if s.opt.Asks {
		p.Limits.Sessions, p.Limits.Parked, p.Checks, p.Verify.By = 1, 1+s.parking.IntN(3), nil, coppice.VerifyNone
	}
	if s.opt.Family {
		p.Limits.Sessions, p.Limits.Depth, p.Checks, p.Verify.By = 1, 1+s.kin.IntN(4), nil, coppice.VerifyNone
	}
	if s.opt.Kills {
		p.Checks, p.Critical = []string{"check 0", "check 1"}, []coppice.FailurePattern{{Match: killedLog}}
	}
	if s.opt.Red {
		p.Checks = []string{"check 0", "check 1"}
	}
	if s.opt.Retries {
		p.Retry.Max, p.Agent.Fallback, p.Budget = 2+s.retries.IntN(5), []string{"beta"}, coppice.BudgetPolicy{}
	}
	s.flowed(&p)
	s.pulled(&p, dir)
	s.tracked(&p)
	root := s.world.add("", map[string]string{"README": "0"}, "", dir)
	s.world.repos[dir] = &repo{base: root, checks: p.Checks, history: []string{root}, forge: s.opt.Pulls}
	if p.Land.Push || s.opt.Pulls {
		s.world.repos[dir].remote = root
	}
	return coppice.Project{Path: dir, Prefix: "p", Policy: p, BaseCommit: root}, nil
}

func (s *sim) addProject() error {
	p, err := s.intake.AddProject(s.ctx, fmt.Sprintf("/repo/%d", len(s.world.repos)))
	s.projects = append(s.projects, p)
	return err
}

// faulty is the store with transactions that fail at random, at random places.
type faulty struct {
	store.Store
	rng    *rand.Rand
	chance int   // one Update in so many fails; 0 for none
	known  *memo // nil after an Update
}

// View reads what was not read since the last Update.
func (f *faulty) View(ctx context.Context, g func(store.Reader) error) error {
	if f.known == nil {
		f.known = newMemo()
	}
	return f.Store.View(ctx, func(r store.Reader) error { return g(f.known.over(r)) })
}

func (f *faulty) Update(ctx context.Context, g func(store.Tx) error) error {
	f.known = nil
	if f.chance == 0 || f.rng.IntN(f.chance) != 0 {
		return f.Store.Update(ctx, g)
	}
	early := f.rng.IntN(2) == 0
	return f.Store.Update(ctx, func(tx store.Tx) error {
		if early {
			return errInjected
		}
		if err := g(tx); err != nil {
			return err
		}
		return errInjected // everything was written, and is taken back
	})
}

func (s *sim) report() (Report, error) {
	r := Report{Steps: s.steps, Virtual: s.now.Sub(s.start), Killed: s.judged.killed, parks: s.parks, decided: s.decided, retries: retries{Diagnosed: len(s.diagnosed)}, locked: s.locks.locked, families: s.families}
	h, again := fnv.New64a(), recovered{}
	var all []coppice.Event
	err := s.st.View(s.ctx, func(rd store.Reader) error {
		for after := int64(0); ; {
			events, err := rd.Log.Events(after, 500, store.EventFilter{})
			if err != nil || len(events) == 0 {
				return err
			}
			for _, e := range events {
				if e.Seq != after+1 {
					return fmt.Errorf("event %d follows %d", e.Seq, after)
				}
				after = e.Seq
				all = append(all, e)
				r.count(e)
				if err := again.see(rd, e, &r.retries); err != nil {
					return err
				}
				switch {
				case e.Kind == coppice.EventTaskEnded && s.belowStopped(rd, e):
					r.Below++
				case e.Kind == coppice.EventSessionParked:
					r.Parked++
				case e.Kind == coppice.EventSessionEnded && s.rests(rd, e.SessionID):
					r.Stopped++
				}
				fmt.Fprintln(h, e.Seq, e.At.UnixNano(), e.Kind, e.Subject, e.By, e.Reason)
			}
			r.Events = after
		}
	})
	if err != nil {
		return r, err
	}
	r.Digest = h.Sum64()
	return r, s.st.View(s.ctx, func(rd store.Reader) error {
		var err error
		if r.hooks, err = s.hooksHold(rd, all); err != nil {
			return err
		}
		if r.flows, err = s.countFlows(rd); err != nil {
			return err
		}
		if r.notified, err = s.messagesHold(rd); err != nil {
			return err
		}
		if r.pulls, err = s.pullsHeld(rd, all); err != nil {
			return err
		}
		if r.issues, err = s.issuesHeld(rd); err != nil {
			return err
		}
		tasks, err := rd.Tasks.List(store.TaskFilter{})
		for _, t := range tasks {
			p, err := rd.Projects.Get(t.ProjectID)
			if err := errors.Join(err, r.retries.countTask(p.Policy, t)); err != nil {
				return err
			}
			switch t.Outcome {
			case coppice.OutcomeDone:
				r.Done++
			case coppice.OutcomeFailed:
				r.Failed++
			default:
				r.Other++
			}
		}
		return err
	})
}

// lost reports whether an error is one that the simulation itself causes.
func lost(err error) bool { return errors.Is(err, errInjected) || errors.Is(err, fabric.ErrLost) }
