package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/fabric"
	"coppice/fabric/local"
	"coppice/store"
)

// weights say how often each action happens, by its name. Their order is part of a
// history.
type weights []weight

type weight struct {
	action string
	often  int
}

// doing returns what an action does.
func (s *sim) doing(action string) func() error {
	return map[string]func() error{
		"turn":            s.turn,
		"take":            s.take,
		"work":            s.work,
		"agent":           s.agent,
		"time":            s.pass,
		"renew":           s.renew,
		"ask":             s.onTask(s.person),
		"create":          s.create,
		"stop":            s.stopLate,
		"create flow":     s.createFlow,
		"flow":            s.flowPerson,
		"document":        s.writeDocument,
		"schedule":        s.schedule,
		"tracker":         s.trackerPerson,
		"forge":           s.forgePerson,
		"webhook":         s.webhook,
		"take theirs":     s.takeTheirs,
		"land":            s.landPull,
		"requeue":         s.requeue,
		"crash worker":    s.crashWorker,
		"crash server":    s.boot,
		"kill host":       s.killHost,
		"dirty":           s.dirty,
		"move base":       s.moveBase,
		"move remote":     s.moveRemote,
		"move forge base": s.moveForgeBase,
		"hijack":          s.hijack,
		"disk":            s.disk,
		"decide base":     s.decideBase,
		"converse":        s.onTask(s.converse),
		"review":          s.review,
		"limit":           s.relimit,
		"remove":          s.remove,
		"decide":          s.decide,
		"break base":      s.breakBase,
		"undo":            s.undo,
		"fork":            func() error { return s.fork(s.someTask()) },
		"answer":          s.answerOne,
		"lock":            s.lock,
		"stop parent":     s.stopParent,
		"look":            s.look,
	}[action]
}

// onTask returns what somebody does with a random task, if there is one.
func (s *sim) onTask(do func(key string) error) func() error {
	return func() error {
		if key := s.someTask(); key != "" {
			return do(key)
		}
		return nil
	}
}

// step lets one random thing happen and looks whether all promises hold.
func (s *sim) step() error {
	s.fault.chance = 40
	s.now = s.now.Add(time.Microsecond) // no two things happen at the same moment
	action := s.pick(s.actions())
	s.path = append(s.path, action)
	if err := s.doing(action)(); err != nil && !lost(err) && !refused(err) {
		return fmt.Errorf("%s: %w", action, err)
	}
	return s.holds()
}

// refused reports whether an error is the product's answer to a person who asked
// for what is not possible just now.
func refused(err error) bool {
	code := coppice.ErrorCode(err)
	return code == coppice.EConflict || code == coppice.ENotFound
}

// pick chooses an action.
func (s *sim) pick(w weights) string {
	total := 0
	for _, a := range w {
		total += a.often
	}
	n := s.rng.IntN(total)
	for _, a := range w {
		if n -= a.often; n < 0 {
			return a.action
		}
	}
	return w[0].action
}

// actions returns how often what happens in this kind of history.
func (s *sim) actions() weights {
	talk, requeue, dirty, remote, remove, review, limit, decide, base, undo := 8, 2, 3, 1, 0, 4, 3, 3, 0, 5
	if s.opt.Red {
		decide, base, undo = 8, 3, 2
	}
	if s.opt.Remove {
		remove = 4
	}
	if s.opt.Plain {
		talk, requeue, dirty, remote, review, limit, decide, undo = 0, 0, 1, 0, 0, 0, 0, 0
	}
	for _, kind := range []struct {
		on      bool
		actions func() weights
	}{
		{s.opt.Asks, s.askingActions},
		{s.opt.Family, s.familyActions},
		{s.opt.Limits, s.limitActions},
		{s.opt.Retries, s.retryActions},
		{s.opt.Locks, s.lockingActions},
		{s.opt.Flows, s.flowActions},
		{s.opt.Pulls, s.pullActions},
		{s.opt.Notify, s.notifyActions},
		{s.opt.Issues, s.issueActions},
	} {
		if kind.on {
			return kind.actions()
		}
	}
	return weights{
		{"turn", 20}, {"take", 14}, {"work", 24}, {"agent", 24}, {"time", 8}, {"renew", 6}, {"ask", 6}, {"create", 10}, {"stop", 1},
		{"requeue", requeue}, {"crash worker", 1}, {"crash server", 1}, {"kill host", 1}, {"dirty", dirty}, {"move base", 1},
		{"move remote", remote}, {"hijack", 1}, {"disk", 1}, {"decide base", 2}, {"converse", talk}, {"review", review}, {"limit", limit},
		{"remove", remove}, {"decide", decide}, {"break base", base}, {"undo", undo},
	}
}

func (s *sim) turn() error {
	t, err := s.eng.Turn(s.ctx)
	if err != nil {
		return err
	}
	s.due = t.Due
	if t.Decisions > 0 {
		if err := s.meet(); err != nil {
			return err
		}
	}
	return s.st.View(s.ctx, func(r store.Reader) error {
		return errors.Join(s.full(r), s.queueReasons(r), s.needsHold(r), s.remoteHolds(r), s.parkedHold(r), s.runLimitsHold(r), s.locksHold(r), s.budgetsHold(r), s.flowsHold(r), s.pullsHold(r), s.issuesHold(r), s.noticesHold(r))
	})
}

// full checks dispatch: after a turn no lane with free capacity has a queue.
func (s *sim) full(r store.Reader) error {
	tasks, err := r.Tasks.List(store.TaskFilter{Stages: []coppice.Stage{coppice.StageQueued}})
	if err != nil {
		return err
	}
	st, err := s.eng.Statuses(s.ctx, r, tasks)
	if err != nil {
		return err
	}
	for i, t := range tasks {
		if st[i].Status == coppice.StatusReady {
			return fmt.Errorf("%s is ready, a session is free, and it was not started", t.Key)
		}
		if st[i].Reason == "" {
			return fmt.Errorf("%s waits without a reason", t.Key)
		}
	}
	return nil
}

var allKinds = []coppice.WorkKind{
	coppice.WorkPrepare, coppice.WorkRemove, coppice.WorkRestore, coppice.WorkPurge, coppice.WorkStrays, coppice.WorkBranch, coppice.WorkRun, coppice.WorkSend,
	coppice.WorkStop, coppice.WorkCheck, coppice.WorkMerge, coppice.WorkPush, coppice.WorkMove, coppice.WorkHook, coppice.WorkPullPush, coppice.WorkForgeRead, coppice.WorkForgeWrite,
	coppice.WorkNotify,
	coppice.WorkTrackerRead, coppice.WorkTrackerWrite,
}

func (s *sim) take() error {
	return s.takeFor(s.works[s.rng.IntN(len(s.works))], 1+s.rng.IntN(4))
}

func (s *sim) takeFor(w *worker, most int) error {
	leases, err := s.fab.TryTake(s.ctx, fabric.Request{
		Worker: w.name, Pools: []string{engine.PoolControl, engine.PoolLocal}, Wants: []fabric.Want{{Kinds: allKinds, Most: most}},
	})
	for _, l := range leases {
		w.items = append(w.items, &item{lease: l})
	}
	return err
}

// work lets a worker do one item, or hand one in; at times the hand-in is lost
// on the way, or comes twice.
func (s *sim) work() error {
	w := s.works[s.rng.IntN(len(s.works))]
	if len(w.items) == 0 {
		return nil
	}
	return s.workOn(w, s.rng.IntN(len(w.items)))
}

func (s *sim) workOn(w *worker, n int) error {
	it := w.items[n]
	if !it.done && !s.now.Before(it.lease.Until) {
		// By its own clock its lease is over: nobody begins an effect then.
		w.items = append(w.items[:n], w.items[n+1:]...)
		return nil
	}
	if !it.done {
		return s.try(it)
	}
	drop := func() { w.items = append(w.items[:n], w.items[n+1:]...) }
	if !s.calm && s.rng.IntN(20) == 0 {
		drop()
		return nil
	}
	current, err := s.isCurrent(it.lease)
	if err != nil {
		return err
	}
	err = s.fab.Finish(s.ctx, it.lease, it.raw(), it.fail)
	if errors.Is(err, errInjected) {
		return nil // tried again later
	}
	drop()
	if err == nil {
		s.given(it)
		if err := errors.Join(s.hookGiven(it), s.forgeGiven(it)); err != nil {
			return err
		}
	}
	if err == nil && !current {
		return fmt.Errorf("the result of %s was accepted from %s, attempt %d, which is not the current one", it.lease.Work.Key, w.name, it.lease.Attempt)
	}
	if err == nil && s.rng.IntN(5) == 0 {
		if again := s.fab.Finish(s.ctx, it.lease, it.raw(), it.fail); again == nil {
			return fmt.Errorf("the result of %s was accepted twice", it.lease.Work.Key)
		}
	}
	return err
}

// try does an item's effect. At times that fails: before anything happened, or
// when all had happened and only nobody could tell.
func (s *sim) try(it *item) error {
	fails, early := !s.calm && s.rng.IntN(25) == 0 && !s.opt.Kills && (!s.opt.Asks || s.rng.IntN(20) == 0), s.rng.IntN(2) == 0
	if !fails || !early {
		res, err := s.execute(it.lease)
		if errors.As(err, &it.fail) {
			it.done = true
			return nil
		}
		if err != nil {
			return err
		}
		it.done, it.res = res != nil, res
	}
	if fails {
		it.done, it.fail = true, coppice.Failf(coppice.ClassEnvironment, "no luck", "")
		if v, err := coppice.DecodeSpec[coppice.SendSpec](it.lease.Work); err == nil && it.lease.Work.Kind == coppice.WorkSend {
			s.loosen(v)
		}
		if h := s.world.hosts[runs(it.lease.Work)]; h != nil && h.phase == "running" {
			h.phase = "lost" // a worker that gives a session up ends its host first
		}
	}
	return nil
}

// runs returns the key of the session that a run is of.
func runs(w coppice.Work) string {
	v, err := coppice.DecodeSpec[coppice.RunSpec](w)
	if w.Kind != coppice.WorkRun || err != nil {
		return ""
	}
	return v.Session.Key
}

func (it *item) raw() json.RawMessage {
	if it.fail != nil {
		return nil
	}
	return coppice.Raw(it.res)
}

// isCurrent reports whether a lease is the current one.
func (s *sim) isCurrent(l coppice.Lease) (ok bool, err error) {
	err = s.st.View(s.ctx, func(r store.Reader) error {
		w, err := r.Work.Get(l.Work.ID)
		if coppice.ErrorCode(err) == coppice.ENotFound { // its project was removed
			return nil
		}
		ok = w.State == coppice.WorkTaken && w.Attempt == l.Attempt && w.Worker == l.Worker
		return err
	})
	return ok, err
}

// execute does an item's effect on the world; nil means that it continues.
func (s *sim) execute(l coppice.Lease) (any, error) {
	w := l.Work
	switch w.Kind {
	case coppice.WorkPrepare:
		return spec(w, s.world.prepare)
	case coppice.WorkRemove:
		return spec(w, s.world.remove)
	case coppice.WorkRestore:
		return spec(w, s.world.restore)
	case coppice.WorkPurge:
		return coppice.PurgeResult{}, nil
	case coppice.WorkStrays:
		return spec(w, s.world.dropStrays)
	case coppice.WorkBranch:
		return spec(w, s.world.flowBranch)
	case coppice.WorkMerge:
		return spec(w, s.world.merge)
	case coppice.WorkCheck:
		return spec(w, s.check)
	case coppice.WorkHook:
		return try(w, s.runHook)
	case coppice.WorkPush:
		if v, err := coppice.DecodeSpec[coppice.PushSpec](w); err != nil || s.gateHolds(w, v.New) != nil {
			return nil, errors.Join(err, s.gateHolds(w, v.New))
		}
		return s.push(w)
	case coppice.WorkMove:
		if v, err := coppice.DecodeSpec[coppice.MoveSpec](w); err != nil || s.gateHolds(w, v.New) != nil {
			return nil, errors.Join(err, s.gateHolds(w, v.New))
		}
		return s.move(w)
	case coppice.WorkPullPush, coppice.WorkForgeRead, coppice.WorkForgeWrite:
		return s.forgeWork(w)
	case coppice.WorkTrackerRead, coppice.WorkTrackerWrite:
		return s.trackerWork(w)
	case coppice.WorkNotify:
		return try(w, s.sendMessage)
	case coppice.WorkStop:
		return spec(w, s.stopHost)
	case coppice.WorkSend:
		return spec(w, s.send)
	}
	return s.runSession(l)
}

func spec[S, R any](w coppice.Work, f func(S) R) (any, error) {
	return try(w, func(v S) (R, error) { return f(v), nil })
}

// try is spec for an effect that can fail.
func try[S, R any](w coppice.Work, f func(S) (R, error)) (any, error) {
	v, err := coppice.DecodeSpec[S](w)
	if err != nil {
		return nil, err
	}
	return f(v)
}

func (s *sim) stopHost(v coppice.StopSpec) coppice.StopResult {
	if h := s.world.hosts[v.Session]; h != nil && h.phase == "running" {
		s.world.end(h, coppice.RunResult{Stopped: true, Conversation: s.known(v.Session, h), Usage: s.used(h)})
	}
	return coppice.StopResult{}
}

func (s *sim) send(v coppice.SendSpec) coppice.SendResult {
	h := s.world.hosts[v.Session]
	if h == nil || h.phase != "running" {
		s.loosen(v)
		return coppice.SendResult{Why: "the session has ended"}
	}
	switch v.Kind {
	case coppice.MessageModel, coppice.MessageInterrupt:
		if s.rng.IntN(3) == 0 {
			return coppice.SendResult{Why: "this agent cannot do that"}
		}
	}
	if v.Kind == coppice.MessageInterrupt && v.Text == "" && !h.screen {
		zero := 0
		s.world.end(h, coppice.RunResult{Exit: &zero, Conversation: s.known(v.Session, h)})
		return coppice.SendResult{Delivered: true}
	}
	if v.Question != "" {
		return s.deliverAnswer(h, v.Question)
	}
	h.sent[v.ID] = v.Text
	return coppice.SendResult{Delivered: true}
}

// running lists the sessions whose host runs, in a fixed order.
func (s *sim) running() []string {
	var keys []string
	for k, h := range s.world.hosts {
		if h.phase == "running" {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	return keys
}

// agent lets one running agent do something.
func (s *sim) agent() error {
	keys := s.running()
	if s.opt.Asks { // who waits does nothing
		keys = slices.DeleteFunc(keys, func(k string) bool { return s.world.hosts[k].asked != "" })
	}
	if len(keys) == 0 {
		return nil
	}
	return s.act(keys[s.rng.IntN(len(keys))])
}

// act lets the agent of a session do something.
func (s *sim) act(key string) error {
	h := s.world.hosts[key]
	if h.asked != "" {
		return nil
	}
	if used, err := s.useTool(key, h); used || err != nil {
		return err
	}
	if used, err := s.lead(key, h); used || err != nil {
		return err
	}
	n := s.rng.IntN(100)
	if s.calm {
		n = 50 + n/2
	}
	if h.screen {
		return s.atScreen(key, h, n)
	}
	switch {
	case n < s.asking(h):
		return s.askPerson(key, h)
	case n < s.writes():
		return s.output(key, h)
	}
	if err := s.leaveUnread(h); err != nil {
		return err
	}
	switch {
	case n < 34, s.opt.Retries && !s.calm && n < 85:
		s.world.end(h, coppice.RunResult{Failure: s.trouble()})
		return nil
	case n < 36:
		one := 1
		s.world.end(h, coppice.RunResult{Exit: &one})
		return nil
	case n < 38, s.opt.Red && !s.calm && s.choices.IntN(2) == 0, s.opt.Retries && !s.calm && s.choices.IntN(4) == 0:
		zero := 0
		s.world.end(h, coppice.RunResult{Exit: &zero, Summary: "there is nothing to do"}) // claims success, did nothing more
		return nil
	}
	if err := s.complain(h); err != nil {
		return err
	}
	switch h.role {
	case coppice.RoleVerify:
		return s.verify(key, h)
	case coppice.RoleAnswer, coppice.RoleCheckout:
		if answered, err := s.stepAnswer(key, h); answered || err != nil {
			return err
		}
		s.answer(key, h)
		return nil
	case coppice.RoleAnalyze:
		s.analyze(key, h)
		return nil
	}
	if h.role == coppice.RoleFix || s.opt.Pulls && s.pulling.rng.IntN(2) == 0 {
		s.world.mergeBase(h)
	}
	s.made++
	s.world.write(h, fmt.Sprintf("f%d", s.rng.IntN(6)), fmt.Sprintf("%s#%d", key, s.made))
	zero := 0
	s.world.end(h, coppice.RunResult{Exit: &zero, Conversation: "c-" + key, Summary: "did it", Usage: s.used(h)})
	return nil
}

func (s *sim) trouble() *coppice.Failure {
	classes := coppice.Classes
	if s.opt.Plain {
		classes = slices.DeleteFunc(slices.Clone(classes), func(c coppice.Class) bool { return c == coppice.ClassBudget })
	}
	if !s.opt.Plain && s.rng.IntN(2) == 0 {
		classes = limits // which concern more than one task
	}
	if s.opt.Retries {
		classes = append(slices.Repeat([]coppice.Class{coppice.ClassUnknown}, 5), retried[1:]...) // two failures of the environment would pause the track
	}
	if s.opt.Kills {
		classes = slices.DeleteFunc(slices.Clone(classes), func(c coppice.Class) bool { return c == coppice.ClassEnvironment })
	}
	f := coppice.Failf(classes[s.rng.IntN(len(classes))], "trouble", "")
	if f.Class == coppice.ClassRateLimit {
		f.RetryAt = s.now.Add(time.Duration(s.rng.IntN(3600)) * time.Second)
	}
	return f
}

func (s *sim) session(key string) (x coppice.Session, err error) {
	err = s.st.View(s.ctx, func(r store.Reader) error {
		x, err = r.Sessions.ByKey(key)
		return err
	})
	return x, err
}

// pass lets time pass: to just before the next timer, to it, or far beyond.
func (s *sim) pass() error {
	switch d := s.due.Sub(s.now); {
	case s.due.IsZero() || d <= 0 || s.rng.IntN(3) == 0:
		s.now = s.now.Add(time.Duration(s.rng.IntN(10_000)) * time.Millisecond)
	case s.rng.IntN(10) == 0:
		s.now = s.now.Add(d + time.Duration(s.rng.IntN(3600))*time.Second)
	default:
		s.now = s.now.Add(d)
	}
	return nil
}

// renew prolongs what a worker holds; what it lost, it drops, most of the time.
func (s *sim) renew() error {
	return s.renewAll(s.works[s.rng.IntN(len(s.works))])
}

func (s *sim) renewAll(w *worker) error {
	if len(w.items) == 0 {
		return nil
	}
	leases := make([]coppice.Lease, len(w.items))
	for i, it := range w.items {
		leases[i] = it.lease
	}
	gone, err := s.fab.Renew(s.ctx, leases)
	if err != nil {
		return err
	}
	if !s.calm && s.rng.IntN(4) == 0 {
		return nil // it does not notice, and continues as if it held them
	}
	var keep []*item
	for _, it := range w.items {
		mine := true
		for _, g := range gone {
			if g.Work.ID == it.lease.Work.ID && g.Attempt == it.lease.Attempt {
				mine = false
			}
		}
		if mine {
			it.lease.Until = s.now.Add(local.DefaultLease)
			keep = append(keep, it)
		}
	}
	w.items = keep
	return nil
}

func (s *sim) crashWorker() error {
	w := s.works[s.rng.IntN(len(s.works))]
	w.items = nil
	if s.hooking != nil {
		s.hooking.crashes++
	}
	if s.rng.IntN(2) == 0 {
		return nil // it stays away; its leases run out
	}
	held, err := s.fab.Held(s.ctx, w.name)
	for _, l := range held {
		w.items = append(w.items, &item{lease: l})
	}
	return err
}

func (s *sim) killHost() error {
	if keys := s.running(); len(keys) > 0 {
		s.world.hosts[keys[s.rng.IntN(len(keys))]].phase = "lost"
	}
	return nil
}
