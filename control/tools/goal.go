package tools

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/flow"
	"coppice/store"
	"coppice/verb"
)

// goalTools are the tools of the lead of a goal.
var goalTools = []tool{
	changing("spawn_worker", "Start a worker: another agent that does a part of the goal. A perspective that changes code works in a separate workspace, and its work lands on the goal's branch. An equal request returns the existing worker. Use wait_for_worker to get its result.", spawnWorker).only(leads),
	reading("list_workers", "List the workers of the goal, with their states: starting, running, done, blocked, failed, killed, timeout or orphaned.", listWorkers).only(leads),
	reading("read_worker_output", "Read the last lines of what a worker says and does.", readWorkerOutput).only(leads),
	changing("send_to_worker", "Send a message to a worker that has not ended.", sendToWorker).only(leads),
	waiting("wait_for_worker", "Wait until a worker has ended, and get its result. While you wait, your session does not count against the limits.", waitForWorker).only(leads),
	changing("kill_worker", "Stop a worker. Its work so far does not land.", killWorker).only(leads),
	changing("cross_review", "Let the agents of two workers review the work of each other. It starts two reviewers, each with at most 8 concerns.", crossReview).only(leads),
	changing("verify", "Start a worker that verifies the merged work of all workers: the whole test suite, the linters, and what you ask for.", verifyWork).only(leads),
	changing("report_progress", "Report your progress to people: one line about what you and your workers are doing.",
		func(c *call, i *engine.Intake, _ store.Tx, in reportIn) (done, error) {
			return done{true}, i.Report(c.ctx, c.session.ID, c.cfg.Redact(in.Message))
		}).only(leads),
	changing("compact_session", "End your session, and continue the goal in a new one, which gets the state of the workers. The last results are in full. Call it when your conversation becomes too long.",
		func(c *call, i *engine.Intake, tx store.Tx, in compactIn) (done, error) {
			keep := defaultKeep
			if in.Keep != nil {
				keep = *in.Keep
			}
			return compact(c, i, tx, keep)
		}).only(leads),
	changing("clear_tool_results", "End your session, and continue the goal in a new one, which gets one line about each worker and no result in full.",
		func(c *call, i *engine.Intake, tx store.Tx, _ struct{}) (done, error) { return compact(c, i, tx, 0) }).only(leads),
	changing("mark_goal_done", "Say that the goal is reached, and end your session. All workers must have ended. A verifier then judges the merged work, which lands if it passes.", markDone).only(leads),
	changing("mark_goal_failed", "Say that the goal cannot be reached, and end your session. Open workers are stopped.", markFailed).only(leads),
	reading("list_perspectives", "List the perspectives that a worker can have.",
		func(*call, store.Reader, struct{}) ([]flow.Perspective, error) { return flow.Perspectives, nil }).only(leads),
}

// leads reports whether a session leads a goal.
func leads(_ coppice.RoleInfo, lead bool) bool { return lead }

// Limits of the tools of a lead.
const (
	defaultKeep  = 3
	mostKeep     = 20
	mostSpawned  = 100 // workers of a goal
	defaultTail  = 80  // lines
	mostTail     = 1000
	mostConcerns = 8
	mostSummary  = 300 // characters of a worker's summary
	mostWorkTask = 120 // characters of a task in list_workers

	defaultWaitWorker = 5 * time.Minute // how long wait_for_worker waits
)

type spawnIn struct {
	Task        string   `json:"task" jsonschema:"everything that the worker needs to know; it does not see your conversation"`
	Perspective string   `json:"perspective,omitempty" jsonschema:"implementer if absent; list_perspectives has all"`
	Scope       []string `json:"file_scope,omitempty" jsonschema:"the files that it works on, as paths or patterns, at most 20"`
	Criteria    string   `json:"pass_criteria,omitempty" jsonschema:"how to see that it is done, at most 400 characters"`
	Context     string   `json:"extra_context,omitempty" jsonschema:"what else it should know, at most 1500 characters"`
	Agent       string   `json:"agent_hint,omitempty" jsonschema:"one of the goal's agents; Coppice chooses one if absent"`
}

// Spawned is the answer of spawn_worker.
type Spawned struct {
	ID          string   `json:"worker_id"`
	Perspective string   `json:"perspective"`
	Agent       string   `json:"agent"`
	State       string   `json:"state"`
	Existing    bool     `json:"existing,omitempty"` // an equal request had started it
	Warnings    []string `json:"warnings,omitempty"`
}

func spawnWorker(c *call, i *engine.Intake, tx store.Tx, in spawnIn) (Spawned, error) {
	g, err := c.goal(tx.Reader())
	if err != nil {
		return Spawned{}, err
	}
	return g.spawn(i, tx, flow.Spawn{
		Perspective: cmp.Or(in.Perspective, flow.Implementer), Hint: in.Agent, Task: c.cfg.Redact(in.Task), Scope: in.Scope,
		Criteria: c.cfg.Redact(in.Criteria), Context: c.cfg.Redact(in.Context),
	})
}

// spawn stores the request for a worker, unless an equal one has a worker that has not
// failed.
func (g *goalView) spawn(i *engine.Intake, tx store.Tx, s flow.Spawn) (Spawned, error) {
	if err := g.ending(); err != nil {
		return Spawned{}, err
	}
	if err := s.Check(); err != nil {
		return Spawned{}, err
	}
	number := 1
	for _, w := range g.workers {
		number = max(number, w.number()+1)
		if w.spawn.Same(s) && !w.failed() {
			return Spawned{w.key, w.spawn.Perspective, w.agent(), w.state(), true, nil}, nil
		}
	}
	if number > mostSpawned {
		return Spawned{}, coppice.Errorf(coppice.EConflict, "the goal has had %d workers, which is the limit", mostSpawned).WithFix("finish the goal with mark_goal_done or mark_goal_failed")
	}
	switch s.Key, s.Agent = flow.WorkerKey(number), g.spec.Worker(number); {
	case s.Hint != "":
		var err error
		if s.Agent, err = g.spec.Pick(s.Hint); err != nil {
			return Spawned{}, coppice.Public(err).WithField("agent_hint")
		}
	case s.Perspective == flow.Verifier:
		s.Agent = g.spec.Verifier
	}
	out := Spawned{ID: s.Key, Perspective: s.Perspective, Agent: s.Agent, State: stateStarting}
	open := 0
	for _, w := range g.workers {
		if !w.open() {
			continue
		}
		open++
		if both := flow.Overlaps(w.spawn.Scope, s.Scope); len(both) > 0 {
			out.Warnings = append(out.Warnings, w.key+" works on the same files: "+strings.Join(both, "; "))
		}
	}
	if open >= g.spec.Workers {
		out.Warnings = append(out.Warnings, s.Key+" starts when one of the "+strconv.Itoa(open)+" open workers has ended")
	}
	return out, i.AskFlow(tx, g.flow, coppice.VerbSpawn, coppice.TitleOf(s.Task), s)
}

type crossIn struct {
	A     string `json:"worker_a" jsonschema:"the id of a worker whose work has landed"`
	B     string `json:"worker_b" jsonschema:"the id of another one"`
	Focus string `json:"focus,omitempty" jsonschema:"what the reviewers look for; correctness if absent"`
}

// crossReview starts two reviewers: the agent of each worker reviews the other's work.
func crossReview(c *call, i *engine.Intake, tx store.Tx, in crossIn) ([]Spawned, error) {
	if in.A == in.B {
		return nil, coppice.Errorf(coppice.EInvalid, "both workers are %s", coppice.Quote(in.A)).WithFix("name two workers").WithField("worker_b")
	}
	focus := cmp.Or(c.cfg.Redact(in.Focus), "correctness")
	if err := flow.CheckLength("focus", focus, flow.MostCriteria); err != nil {
		return nil, err
	}
	var out []Spawned
	for _, pair := range [][2]string{{in.A, in.B}, {in.B, in.A}} {
		g, err := c.goal(tx.Reader()) // the second reviewer has the next number
		if err != nil {
			return nil, err
		}
		by, err := g.worker(pair[0])
		if err != nil {
			return nil, err
		}
		of, err := g.worker(pair[1])
		if err != nil {
			return nil, err
		}
		if of.task == nil || of.task.Landed == "" {
			return nil, coppice.Errorf(coppice.EConflict, "no work of %s has landed", of.key).WithFix("wait for it with wait_for_worker; only work that landed can be reviewed")
		}
		one, err := g.spawn(i, tx, flow.Spawn{
			Perspective: flow.Reviewer, Hint: by.agent(), Scope: of.spawn.Scope,
			Task: "Review the work of " + of.key + " (" + of.task.Title + "), which landed as commit " + of.task.Landed + ". Read it with `git show " + of.task.Landed +
				"`, and read the code around it. Focus on " + focus + ". Report at most " + strconv.Itoa(mostConcerns) + " concerns.",
		})
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

type verifyIn struct {
	Scope    []string `json:"file_scope,omitempty" jsonschema:"the files to look at first, at most 20"`
	Criteria string   `json:"success_criteria" jsonschema:"what must be true, at most 400 characters"`
	Agent    string   `json:"agent_hint,omitempty" jsonschema:"one of the goal's agents; its verifier if absent"`
}

func verifyWork(c *call, i *engine.Intake, tx store.Tx, in verifyIn) (Spawned, error) {
	g, err := c.goal(tx.Reader())
	if err != nil {
		return Spawned{}, err
	}
	if !coppice.Visible(in.Criteria) {
		return Spawned{}, coppice.Errorf(coppice.EInvalid, "success_criteria is empty").WithFix("say what must be true").WithField("success_criteria")
	}
	if err := flow.CheckLength("success_criteria", in.Criteria, flow.MostCriteria); err != nil {
		return Spawned{}, err
	}
	// Work that has landed since makes it another verification.
	landed := 0
	for _, w := range g.workers {
		if w.task != nil && w.task.Landed != "" {
			landed++
		}
	}
	return g.spawn(i, tx, flow.Spawn{
		Perspective: flow.Verifier, Hint: in.Agent, Scope: in.Scope, Criteria: c.cfg.Redact(in.Criteria),
		Task: "Verify the work of " + strconv.Itoa(landed) + " workers of the goal " + g.flow.Key + ": " + g.flow.Title + "\n\n" + c.cfg.Redact(in.Criteria),
	})
}

type workerIn struct {
	ID string `json:"worker_id" jsonschema:"the id that spawn_worker returned, such as w2"`
}

type sendWorkerIn struct {
	workerIn
	Text string `json:"text"`
}

func sendToWorker(c *call, i *engine.Intake, tx store.Tx, in sendWorkerIn) (done, error) {
	g, err := c.goal(tx.Reader())
	if err != nil {
		return done{}, err
	}
	w, err := g.worker(in.ID)
	if err != nil {
		return done{}, err
	}
	if w.task == nil {
		return done{}, coppice.Errorf(coppice.EConflict, "%s has not started", w.key).WithFix("retry when list_workers shows it as running")
	}
	return sendMessage(c, i, tx, sendIn{To: w.task.Key, Text: in.Text})
}

func killWorker(c *call, i *engine.Intake, tx store.Tx, in workerIn) (done, error) {
	g, err := c.goal(tx.Reader())
	if err != nil {
		return done{}, err
	}
	w, err := g.worker(in.ID)
	switch {
	case err != nil:
		return done{}, err
	case !w.open():
		return done{}, coppice.Errorf(coppice.EConflict, "%s has ended (%s)", w.key, w.state())
	case w.task == nil: // nothing of it exists
		w.ask.SettledAt, w.ask.Outcome = c.cfg.Now().UTC(), killedOutcome
		return done{true}, tx.Asks.Put(&w.ask)
	}
	open, err := tx.Asks.Open(coppice.TaskSubject(w.task.ID))
	if err != nil || coppice.Asked(open, coppice.VerbStop) != nil {
		return done{err == nil}, err
	}
	_, err = i.Ask(c.ctx, w.task.Key, coppice.VerbStop, verb.Request{})
	return done{err == nil}, err
}

type compactIn struct {
	Keep *int `json:"keep_last_n,omitempty" jsonschema:"how many results of workers the next session gets in full: 3 if absent, at most 20"`
}

// compact ends the session of a lead. The plan of the goal continues with another one.
func compact(c *call, i *engine.Intake, tx store.Tx, keep int) (done, error) {
	g, err := c.goal(tx.Reader())
	if err != nil {
		return done{}, err
	}
	if err := g.ending(); err != nil {
		return done{}, err
	}
	if keep < 0 || keep > mostKeep {
		return done{}, coppice.Errorf(coppice.EInvalid, "%d is not a valid value for keep_last_n", keep).WithFix("use 0 to %d", mostKeep).WithField("keep_last_n")
	}
	return done{true}, i.Finish(tx, c.session.ID, flow.MarkContinues.Line(strconv.Itoa(keep)))
}

type markDoneIn struct {
	Summary  string `json:"summary" jsonschema:"what was done, for people and for the verifier"`
	Criteria string `json:"success_criteria,omitempty" jsonschema:"how the verifier can see that the goal is reached, at most 400 characters"`
}

func markDone(c *call, i *engine.Intake, tx store.Tx, in markDoneIn) (done, error) {
	if err := flow.CheckLength("success_criteria", in.Criteria, flow.MostCriteria); err != nil {
		return done{}, err
	}
	return mark(c, i, tx, flow.MarkDone, coppice.VerbGoalDone, "summary", in.Summary, flow.GoalDone{Criteria: c.cfg.Redact(in.Criteria)})
}

type markFailedIn struct {
	Reason string `json:"reason"`
}

func markFailed(c *call, i *engine.Intake, tx store.Tx, in markFailedIn) (done, error) {
	return mark(c, i, tx, flow.MarkFailed, coppice.VerbGoalFailed, "reason", in.Reason, nil)
}

// mark ends the session of a lead with a result.
func mark(c *call, i *engine.Intake, tx store.Tx, m flow.Mark, v coppice.Verb, field, text string, args any) (done, error) {
	g, err := c.goal(tx.Reader())
	if err != nil {
		return done{}, err
	}
	if err := g.ending(); err != nil {
		return done{}, err
	}
	if !coppice.Visible(text) {
		return done{}, coppice.Errorf(coppice.EInvalid, "%s is empty", field).WithField(field)
	}
	if err := coppice.ValidText(field, text, coppice.MaxMessage); err != nil {
		return done{}, err
	}
	if m == flow.MarkDone {
		open, err := g.openBelow(tx.Reader(), c.session)
		if err != nil {
			return done{}, err
		}
		if len(open) > 0 {
			return done{}, coppice.Errorf(coppice.EConflict, "these workers and tasks have not ended: %s", strings.Join(open, ", ")).WithFix("wait for them with wait_for_worker or wait_for_tasks, or stop workers with kill_worker")
		}
	}
	text = c.cfg.Redact(text)
	if err := i.AskFlow(tx, g.flow, v, text, args); err != nil {
		return done{}, err
	}
	return done{true}, i.Finish(tx, c.session.ID, m.Line(text))
}

type waitWorkerIn struct {
	workerIn
	Timeout int64 `json:"timeout_s,omitempty" jsonschema:"how long to wait: 300 seconds if absent, at most 86400"`
}

// waitForWorker waits until a worker has started, and then as wait_for_tasks does.
func waitForWorker(c *call, in waitWorkerIn) (any, error) {
	var g *goalView
	var w *worker
	started := func(r store.Reader) (ok bool, err error) {
		if g, err = c.goal(r); err == nil {
			w, err = g.worker(in.ID)
		}
		if err != nil || w.task != nil || !w.open() {
			return err == nil, err
		}
		return false, g.full(w)
	}
	ok, err := store.Read(c.ctx, c.cfg.Store, started)
	if err == nil && !ok {
		ok, err = c.wait(started, store.TopicTask(g.flow.ID))
	}
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return stillWaiting(), nil
	case w.task == nil:
		return w.view(), nil
	}
	return c.await([]string{w.task.Key}, seconds(in.Timeout), func(r store.Reader, _ []int64) (any, error) {
		g, err := c.goal(r)
		if err != nil {
			return nil, err
		}
		w, err := g.worker(in.ID)
		if err != nil {
			return nil, err
		}
		return w.result(r)
	})
}

// seconds returns how long wait_for_worker waits.
func seconds(n int64) time.Duration {
	if n > int64(coppice.MostWait/time.Second) { // it would overflow
		return coppice.MostWait + time.Millisecond
	}
	return milliseconds(n*1000, defaultWaitWorker)
}
