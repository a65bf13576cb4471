package control

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

// When facts are problems.
const (
	leastDisk        = 200 << 20       // free bytes below which work stops
	goodDisk         = 1 << 30         // free bytes below which a person should act
	oldBackup        = 24 * time.Hour  // the age of the newest backup
	clockSlack       = time.Minute     // how far the clock can be behind the newest event
	longOffered      = 5 * time.Minute // for work that no worker has taken, although workers have capacity
	longBlocked      = 30 * time.Minute
	lostWithin       = time.Hour // the period in which lost hosts are counted
	mostTrackerTries = 3         // reads of a tracker that failed in a row before that is a problem
	mostLost         = 2         // lost hosts in that period that are not a problem
)

// HealthFacts are the facts that decide whether the server is healthy. The zero
// value of each means that nothing is wrong, or that it is not known.
type HealthFacts struct {
	Now       time.Time
	Damaged   error                // why the database cannot be changed
	DiskFree  uint64               // bytes; 0 means unknown
	State     string               // the state directory
	Since     time.Time            // when the first backup was due
	Backup    time.Time            // when the newest backup was written; zero if there is none
	LastEvent time.Time            // when the newest event happened
	Offered   *coppice.Work        // the oldest work that workers should have taken
	Blocked   []BlockedQueue       // queues whose first landing waits
	Lost      int                  // hosts that were lost recently
	Limited   []coppice.AgentLimit // accounts
	Agents    []UsedAgent
	Config    error // why the user's configuration cannot be read
	Webhooks  error // why no webhooks are received
	Listens   bool  // webhooks.listen is set
	Forges    []UsedForge
	Notifiers []string               // of the user's configuration
	Named     map[string][]string    // the notifiers that a project names, by its prefix
	Failing   []coppice.Notification // the newest message of each notifier, if it failed
	Trackers  []UsedTracker
}

// UsedTracker is a source of issues of a project.
type UsedTracker struct {
	Project string // prefix
	Row     coppice.Tracker
}

// UsedForge is the forge of a project that lands by pull request.
type UsedForge struct {
	Project string // prefix
	Policy  coppice.ForgePolicy
	Row     coppice.ForgeRow
}

// BlockedQueue is a queue whose first landing waits.
type BlockedQueue struct {
	Project string // prefix
	Task    string // key
	Since   time.Time
	Why     string
	Fix     string
}

// UsedAgent is an agent that a project uses.
type UsedAgent struct {
	api.Agent
	Project string // prefix
}

// Judge decides whether the server is healthy. It is a pure function.
func Judge(f HealthFacts) api.Health {
	h := api.Health{At: f.Now.UTC(), Problems: []api.HealthProblem{}, Started: f.Since.UTC(), Backup: f.Backup.UTC(), DiskFree: f.DiskFree, State: f.State, Forges: showForges(f)}
	for _, check := range []func(HealthFacts) []api.HealthProblem{
		judgeDatabase, judgeDisk, judgeClock, judgeWorker, judgeBackup, judgeQueues, judgeHosts, judgeLimits, judgeConfig, judgeWebhooks, judgeTrackers, judgeAgents, judgeNotifiers, judgeMessages,
	} {
		h.Problems = append(h.Problems, check(f)...)
	}
	slices.SortStableFunc(h.Problems, func(a, b api.HealthProblem) int {
		switch {
		case a.Urgent == b.Urgent:
			return 0
		case a.Urgent:
			return -1
		}
		return 1
	})
	h.Healthy = len(h.Problems) == 0
	return h
}

func one(p api.HealthProblem) []api.HealthProblem { return []api.HealthProblem{p} }

// when returns a problem if it exists.
func when(exists bool, p api.HealthProblem) []api.HealthProblem {
	if !exists {
		return nil
	}
	return one(p)
}

func judgeDatabase(f HealthFacts) []api.HealthProblem {
	if f.Damaged == nil {
		return nil
	}
	e := coppice.Public(f.Damaged)
	return one(api.HealthProblem{Kind: "database", Text: e.Cause, Fix: cmp.Or(e.Fix, "see the server's log, or run coppice restore with a backup"), Urgent: true})
}

func judgeDisk(f HealthFacts) []api.HealthProblem {
	return when(f.DiskFree != 0 && f.DiskFree < goodDisk, api.HealthProblem{
		Kind: "disk", Text: fmt.Sprintf("The disk of %s is nearly full: %v are free.", f.State, coppice.Bytes(f.DiskFree)),
		Fix: "free some space; coppice status --disk shows what Coppice uses", Urgent: f.DiskFree < leastDisk,
	})
}

func judgeClock(f HealthFacts) []api.HealthProblem {
	ahead := f.LastEvent.Sub(f.Now)
	return when(!f.LastEvent.IsZero() && ahead > clockSlack, api.HealthProblem{
		Kind: "clock", Text: fmt.Sprintf("The clock was set back: the newest event is %s in the future.", ahead.Round(time.Second)),
		Fix: "set the clock of this machine; until it passes that time, timers and time limits are late",
	})
}

func judgeWorker(f HealthFacts) []api.HealthProblem {
	if f.Offered == nil || f.Now.Sub(f.Offered.OfferedAt) < longOffered {
		return nil
	}
	return one(api.HealthProblem{
		Kind: "worker", Text: fmt.Sprintf("No worker has taken %s (%s) for %s.", f.Offered.Kind, f.Offered.Key, f.Now.Sub(f.Offered.OfferedAt).Round(time.Second)),
		Fix: "see the server's log, then restart coppice serve; sessions continue", Urgent: true,
	})
}

func judgeBackup(f HealthFacts) []api.HealthProblem {
	newest := f.Backup
	if newest.IsZero() || newest.Before(f.Since) {
		newest = f.Since // a server that was off has a day for the next one
	}
	if newest.IsZero() || f.Now.Sub(newest) < oldBackup {
		return nil
	}
	text := "There is no backup of the database."
	if !f.Backup.IsZero() {
		text = fmt.Sprintf("The newest backup of the database is %s old.", f.Now.Sub(f.Backup).Round(time.Hour))
	}
	return one(api.HealthProblem{Kind: "backup", Text: text, Fix: "run coppice backup; if it fails, see the server's log"})
}

func judgeQueues(f HealthFacts) (list []api.HealthProblem) {
	for _, q := range f.Blocked {
		if age := f.Now.Sub(q.Since); age >= longBlocked {
			list = append(list, api.HealthProblem{
				Kind: "queue", Text: fmt.Sprintf("The landing queue of %s is blocked by %s, which has waited for %s: %s.", q.Project, q.Task, age.Round(time.Minute), strings.TrimSuffix(q.Why, ".")),
				Fix: cmp.Or(q.Fix, "run coppice show "+q.Task), Urgent: true,
			})
		}
	}
	return list
}

func judgeHosts(f HealthFacts) []api.HealthProblem {
	return when(f.Lost > mostLost, api.HealthProblem{
		Kind: "hosts", Text: fmt.Sprintf("%d sessions were lost within an hour: something killed their processes.", f.Lost),
		Fix: "check whether this machine runs out of memory, and lower limits.sessions or limits.memory; see docs/troubleshooting.md",
	})
}

func judgeLimits(f HealthFacts) (list []api.HealthProblem) {
	for _, l := range f.Limited {
		if !l.Holds(f.Now) {
			continue
		}
		p := api.HealthProblem{Kind: "limit", Text: fmt.Sprintf("%s cannot be used: %s", l.Agent, cmp.Or(l.Text, string(l.Class)))}
		if l.Until.IsZero() {
			p.Fix, p.Urgent = "fix the problem, then run: coppice limits clear "+l.Agent, true
		} else {
			p.Fix = "wait until " + l.Until.UTC().Format(time.RFC3339) + ", or name another agent in agent.fallback"
		}
		list = append(list, p)
	}
	return list
}

func judgeConfig(f HealthFacts) []api.HealthProblem {
	if f.Config == nil {
		return nil
	}
	e := coppice.Public(f.Config)
	return one(api.HealthProblem{
		Kind: "config", Text: "Your configuration cannot be read, and the last one that could be read applies: " + e.Cause, Fix: cmp.Or(e.Fix, "correct the file"),
	})
}

func judgeWebhooks(f HealthFacts) []api.HealthProblem {
	return when(f.Webhooks != nil, api.HealthProblem{
		Kind: "webhooks", Text: fmt.Sprintf("Webhooks of forges cannot be received: %v. Coppice reads the forges at intervals.", f.Webhooks),
		Fix: "stop the program that uses the address, or change webhooks.listen in your configuration and restart coppice serve",
	})
}

// judgeTrackers reports sources of issues that cannot be read, or whose issues cannot
// become tasks. A failure that might pass is a problem when it has happened several times.
func judgeTrackers(f HealthFacts) (list []api.HealthProblem) {
	for _, t := range f.Trackers {
		of := fmt.Sprintf("The issues of %s (%s)", t.Project, t.Row.Name)
		switch fail := t.Row.Failure; {
		case fail != nil && (fail.Class == coppice.ClassAuth || t.Row.Tries >= mostTrackerTries):
			list = append(list, api.HealthProblem{Kind: "tracker", Text: fmt.Sprintf("%s cannot be read: %s.", of, strings.TrimSuffix(fail.Text, ".")), Fix: cmp.Or(fail.Fix, "see `coppice issues -p "+t.Project+"`")})
		case t.Row.Problem != "":
			list = append(list, api.HealthProblem{Kind: "tracker", Text: fmt.Sprintf("%s do not become tasks: %s.", of, strings.TrimSuffix(t.Row.Problem, ".")), Fix: "fix the cause, then run: coppice issues read -p " + t.Project})
		}
	}
	return list
}

// showForges says how Coppice learns of changes on each forge. A person can want it to
// read a forge only at intervals, so this is not a problem.
func showForges(f HealthFacts) (list []api.HealthForge) {
	for _, u := range f.Forges {
		h := api.HealthForge{Project: u.Project, ReadAt: u.Row.ReadAt.UTC(), HookAt: u.Row.HookAt.UTC()}
		interval, _ := u.Policy.Interval().MarshalText() // it never fails
		every := "the forge is read every " + string(interval) + " while a pull request is open"
		switch {
		case u.Policy.Webhook == "":
			h.Text = every
		case !f.Listens:
			h.Text, h.Fix = "no webhooks are received: "+every, "set webhooks.listen in your configuration, and restart coppice serve"
		case f.Webhooks != nil:
			h.Text = "no webhooks are received: " + every // the problem says why
		case u.Row.HookAt.IsZero():
			h.Text, h.Fix = "no webhook has arrived: "+every, "send a test delivery in the settings of the forge; see docs/forges.md"
		default:
			h.Text = "webhooks arrive; the last one at " + u.Row.HookAt.UTC().Format(time.RFC3339)
		}
		list = append(list, h)
	}
	return list
}

func judgeAgents(f HealthFacts) (list []api.HealthProblem) {
	for _, a := range f.Agents {
		p := api.HealthProblem{Kind: "agent"}
		switch {
		case a.Path == "":
			p.Text, p.Fix = fmt.Sprintf("%s, which %s uses, is not installed.", a.Name, a.Project), cmp.Or(a.Install, "install it")
		case a.Problem != "":
			p.Text, p.Fix = fmt.Sprintf("%s, which %s uses, does not work: %s", a.Name, a.Project, a.Problem), "run coppice agents"
		case a.Login == "no":
			p.Text, p.Fix = fmt.Sprintf("%s, which %s uses, is not logged in.", a.Name, a.Project), "log in to it, or set "+strings.Join(a.LoginEnv, " or ")
			if len(a.LoginEnv) == 0 {
				p.Fix = "start it on a terminal and log in"
			}
		default:
			continue
		}
		list = append(list, p)
	}
	return list
}

// judgeNotifiers finds projects that name a notifier which does not exist.
func judgeNotifiers(f HealthFacts) (list []api.HealthProblem) {
	for _, project := range slices.Sorted(maps.Keys(f.Named)) {
		var missing []string
		for _, name := range f.Named[project] {
			if !slices.Contains(f.Notifiers, name) {
				missing = append(missing, name)
			}
		}
		if len(missing) == 0 {
			continue
		}
		p := api.HealthProblem{
			Kind: "notify", Text: fmt.Sprintf("notify in coppice.yaml of %s names %s, and your configuration does not have it.", project, strings.Join(missing, ", ")),
			Fix: "write it to notify.notifiers in your configuration, or remove it from coppice.yaml",
		}
		if len(missing) == len(f.Named[project]) {
			p.Text += " Nobody gets the notices of this project."
		}
		list = append(list, p)
	}
	return list
}

// Health gathers the facts that Judge needs.
type Health struct {
	Store    store.Store
	Now      func() time.Time
	State    string
	Started  time.Time // when the server started
	Intact   func() error
	DiskFree func() uint64
	Backup   func() (time.Time, error) // when the newest one was written
	Agents   func(ctx context.Context, p *coppice.Project, refresh bool) (api.AgentList, error)
	Config   func() error // why the user's configuration cannot be read; can be nil
	Webhooks func() error // why none are received; nil if none should be
	Notify   func() coppice.NotifyPolicy
}

// Check says whether the server is healthy. Searching for agents can take some
// seconds the first time, so a caller can leave that out.
func (h Health) Check(ctx context.Context, agents bool) (api.Health, error) {
	f := HealthFacts{Now: h.Now(), Damaged: h.Intact(), DiskFree: h.DiskFree(), State: h.State, Since: h.Started}
	var err error
	if f.Backup, err = h.Backup(); err != nil {
		return api.Health{}, err
	}
	if h.Config != nil {
		f.Config = h.Config()
	}
	if h.Webhooks != nil {
		f.Listens, f.Webhooks = true, h.Webhooks()
	}
	if h.Notify != nil {
		f.Notifiers = slices.Sorted(maps.Keys(h.Notify().Notifiers))
	}
	var projects []coppice.Project
	err = h.Store.View(ctx, func(r store.Reader) (err error) {
		if projects, err = r.Projects.All(); err != nil {
			return err
		}
		return f.read(r, projects)
	})
	if err != nil {
		return api.Health{}, err
	}
	for i := range projects {
		if !agents || h.Agents == nil {
			break
		}
		list, err := h.Agents(ctx, &projects[i], false)
		if err != nil {
			return api.Health{}, err
		}
		f.Agents = append(f.Agents, usedBy(projects[i], list.Agents)...)
	}
	return Judge(f), nil
}

// usedBy returns the agents that a project's policy names.
func usedBy(p coppice.Project, all []api.Agent) (used []UsedAgent) {
	names := append([]string{p.Policy.Agent.Use}, p.Policy.Agent.Fallback...)
	for _, name := range p.Policy.Agent.Roles {
		names = append(names, name)
	}
	for i, name := range names {
		names[i], _ = coppice.SplitChoice(name)
	}
	for _, a := range all {
		if slices.Contains(names, a.Name) {
			used = append(used, UsedAgent{a, p.Prefix})
		}
	}
	return used
}

// takenSoon are the kinds of work that a worker takes as soon as it is offered.
// Checks and pushes wait for others, so their age means nothing.
var takenSoon = []coppice.WorkKind{
	coppice.WorkPrepare, coppice.WorkRemove, coppice.WorkRestore, coppice.WorkPurge, coppice.WorkRun, coppice.WorkSend, coppice.WorkStop,
	coppice.WorkMerge, coppice.WorkMove, coppice.WorkPreview,
}

// mostEvents limits how many events are searched for lost hosts.
const mostEvents = 1000

// read fills in the facts that the store has.
func (f *HealthFacts) read(r store.Reader, projects []coppice.Project) (err error) {
	if f.Limited, err = r.Limits.All(); err != nil {
		return err
	}
	for _, kind := range takenSoon {
		work, err := r.Work.Open(kind)
		if err != nil {
			return err
		}
		for _, w := range work {
			if w.State == coppice.WorkOffered && (f.Offered == nil || w.OfferedAt.Before(f.Offered.OfferedAt)) {
				f.Offered = &w
			}
		}
	}
	if err := f.readMessages(r); err != nil {
		return err
	}
	f.Named = map[string][]string{}
	for _, p := range projects {
		f.Named[p.Prefix] = p.Policy.Notify
		if err := f.readQueues(r, p); err != nil {
			return err
		}
		if p.Policy.Land.How == coppice.LandPR {
			row, err := r.Forges.Of(p.ID)
			if err != nil {
				return err
			}
			f.Forges = append(f.Forges, UsedForge{p.Prefix, p.Policy.Forge, row})
		}
	}
	for _, p := range projects {
		if len(p.Policy.Trackers) == 0 {
			continue
		}
		sources, err := engine.Sources(r, p)
		if err != nil {
			return err
		}
		for _, s := range sources {
			if s.Policy != nil {
				f.Trackers = append(f.Trackers, UsedTracker{p.Prefix, s.Row})
			}
		}
	}
	_, last, err := r.Log.Bounds()
	if err != nil {
		return err
	}
	events, err := r.Log.Events(max(0, last-mostEvents), mostEvents, store.EventFilter{})
	for _, e := range events {
		f.LastEvent = e.At
		if e.Kind == coppice.EventSessionEnded && strings.HasPrefix(e.Reason, string(coppice.SessionLost)) && f.Now.Sub(e.At) < lostWithin {
			f.Lost++
		}
	}
	return err
}

// readQueues finds the queues of a project whose first landing waits.
func (f *HealthFacts) readQueues(r store.Reader, p coppice.Project) error {
	queues, err := r.Queues.In(p.ID)
	if err != nil {
		return err
	}
	for _, q := range queues {
		first, err := r.Landings.Queued(q.ID, 1)
		if err != nil {
			return err
		}
		if len(first) == 0 || first[0].Waits == "" {
			continue
		}
		keys, err := r.Tasks.Keys([]int64{first[0].TaskID})
		if err != nil {
			return err
		}
		b := BlockedQueue{Project: p.Prefix, Task: keys[first[0].TaskID], Since: first[0].QueuedAt, Why: first[0].Waits}
		for _, n := range q.Needs {
			if n.Text == b.Why {
				b.Fix = n.Fix
			}
		}
		f.Blocked = append(f.Blocked, b)
	}
	return nil
}
