package features

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coppice"
)

// Seen is what Coppice and the file last agreed on about a feature. With it,
// Coppice distinguishes a status that a person wrote from one that Coppice did
// not write yet.
type Seen struct {
	Status   Status `json:"status"`
	Asked    string `json:"asked"`           // a fingerprint of the request
	Track    string `json:"track,omitempty"` // the track of its category; empty in old entries
	ByPerson bool   `json:"hand,omitempty"`  // a person set its status, which holds until they set it to open
	Held     Status `json:"held,omitempty"`  // the file's different status, which waits for a person

	// Writing is the status that Coppice was about to write. If the file has
	// it, Coppice wrote it, although that was not recorded.
	Writing Status `json:"writing,omitempty"`
}

// Intend returns the state to store before marks are written, for the features
// that were seen before.
func Intend(seen map[string]Seen, marks []Mark) map[string]Seen {
	next := maps.Clone(seen)
	for _, m := range marks {
		if s, known := next[m.ID]; known {
			s.Writing = m.Status
			next[m.ID] = s
		}
	}
	return next
}

// settled returns the state when it is known which statuses were written.
func settled(seen map[string]Seen, l *List) map[string]Seen {
	next := maps.Clone(seen)
	for id, s := range next {
		if f, there := l.Find(id); there && s.Writing != "" && s.Writing == f.Status {
			s.Status = s.Writing
		}
		s.Writing = ""
		next[id] = s
	}
	return next
}

// Gone is the status of a feature that is no longer in the file.
const Gone Status = "gone"

// StatusChange is a status that changed in the file without Coppice.
type StatusChange struct {
	ID       string
	From, To Status
}

// Facts is the input of a plan.
type Facts struct {
	List   *List
	Policy coppice.Policy
	Tasks  map[string]coppice.Task // the newest task of each feature
	Roles  map[string]coppice.Role // of the newest session, for features whose task is in a session
	Seen   map[string]Seen

	// Ran says that a session of the project ran since the file was last read:
	// an agent might have changed it. Statuses that changed then wait.
	Ran bool
	// Accept says that a person has confirmed every status in the file.
	Accept bool
}

// Ask is a task that a feature asks for.
type Ask struct {
	Feature Feature
	Track   string
	After   []string // keys of tasks
	Refs    []string // ids of features whose tasks are created with it
}

// Change is a task that no longer matches its feature.
type Change struct {
	Key string
	Ask
}

// Plan is what should follow from a list. Carrying it out twice is safe.
type Plan struct {
	Create   []Ask
	Change   []Change
	Stop     map[string]string // keys of tasks, and why
	Retry    []string          // keys of tasks; one that is also in Change gets its new request first
	Marks    []Mark            // statuses to write into the file
	Notes    []string          // reported one time
	Warnings []string          // shown until the file or the policy changes
	Waits    []StatusChange    // what a person has to confirm; it has no effect yet
	Seen     map[string]Seen   // the state when all of this is done
}

// Forget gives a feature its earlier state, because its part of the plan was not
// carried out.
func (p *Plan) Forget(seen map[string]Seen, id string) {
	if old, known := seen[id]; known {
		p.Seen[id] = old
	} else {
		delete(p.Seen, id)
	}
}

// Make returns what should follow from the facts. It is pure.
func Make(f Facts) Plan {
	f.Seen = settled(f.Seen, f.List)
	m := &maker{Facts: f, plan: Plan{Stop: map[string]string{}, Seen: make(map[string]Seen, len(f.List.Features))}, state: map[string]int{}}
	for _, feature := range f.List.Features {
		m.feature(feature)
	}
	m.removed()
	m.categories()
	return m.plan
}

type maker struct {
	Facts
	plan  Plan
	state map[string]int // for features without a task: whether one is created
}

// feature decides about one feature.
func (m *maker) feature(f Feature) {
	task, has := m.Tasks[f.ID]
	seen, known := m.Seen[f.ID]
	seen.Held = ""
	held := m.held(f)
	if held {
		m.plan.Waits = append(m.plan.Waits, StatusChange{ID: f.ID, From: seen.Status, To: f.Status})
		seen.Held, f.Status = f.Status, seen.Status
	}
	now := Seen{Status: f.Status, Asked: m.asked(f), Track: m.Policy.TrackFor(f.Category), ByPerson: seen.ByPerson && !f.Wanted(), Held: seen.Held}
	if !known || seen.Status != f.Status {
		now.ByPerson = m.byPerson(f, task, has, known)
	}
	if has && task.Restartable() && f.Status != Passed {
		retried := m.restarts(task)
		if (known && seen.Asked != now.Asked || retried && (!known || m.outdated(f, task))) && !m.renew(f, task) {
			if known {
				m.plan.Seen[f.ID] = seen
			}
			return
		}
	}
	if !has {
		if f.Wanted() {
			m.create(f)
			if f.Status == Verifying && !held {
				m.plan.Marks = append(m.plan.Marks, Mark{ID: f.ID, Status: Open})
				now.Status = Open
			}
		}
		m.plan.Seen[f.ID] = now
		return
	}
	if known && !task.Ended() {
		rerouted := seen.Track != "" && seen.Track != now.Track && !started(task)
		if seen.Asked != now.Asked || rerouted {
			m.change(f, task)
		}
	}
	mark := Derive(f.ID, task, m.Roles[f.ID])
	if m.restarts(task) {
		mark = Mark{ID: f.ID, Status: Open}
	}
	if !held && !now.ByPerson && differs(f, mark) {
		m.plan.Marks = append(m.plan.Marks, mark)
		now.Status = mark.Status
	}
	m.plan.Seen[f.ID] = now
}

// held reports whether the file's status of a feature waits for a person: it
// changed while a session ran, and it would have an effect. The status of a
// task that is done is only corrected.
func (m *maker) held(f Feature) bool {
	seen, known := m.Seen[f.ID]
	if !known || m.Accept || seen.Status == f.Status || (Feature{Status: seen.Status}).Wanted() && f.Wanted() {
		return false
	}
	if t, has := m.Tasks[f.ID]; has && (t.Outcome == coppice.OutcomeDone || Derive(f.ID, t, m.Roles[f.ID]).Status == f.Status) {
		return false
	}
	return m.Ran || seen.Held == f.Status
}

// find returns a feature with its effective status.
func (m *maker) find(id string) Feature {
	f, _ := m.List.Find(id)
	if m.held(f) {
		f.Status = m.Seen[id].Status
	}
	return f
}

// restarts reports whether the plan retries a task, so that its old outcome no
// longer counts.
func (m *maker) restarts(t coppice.Task) bool {
	n := len(m.plan.Retry)
	return n > 0 && m.plan.Retry[n-1] == t.Key
}

func differs(f Feature, mark Mark) bool {
	return f.Status != mark.Status || mark.Status == Failed && (f.Reason != mark.Reason || f.Failure != mark.Failure)
}

// byPerson handles a status that a person wrote, and reports whether it holds.
func (m *maker) byPerson(f Feature, t coppice.Task, has, known bool) (hand bool) {
	switch {
	case !has:
		return false
	case f.Wanted():
		switch {
		case t.Restartable():
			m.plan.Retry = append(m.plan.Retry, t.Key)
		case t.Ended() && known:
			m.note("feature %s was set to %s, but it has landed as %s; add a new feature for what is missing", f.ID, f.Status, t.Key)
		}
		return false
	case t.Ended():
	case !started(t):
		m.plan.Stop[t.Key] = fmt.Sprintf("its feature was set to %s", f.Status)
	case Derive(f.ID, t, m.Roles[f.ID]).Status == f.Status:
		return false
	default:
		m.note("feature %s was set to %s while %s is running; stop it if it should not continue", f.ID, f.Status, t.Key)
	}
	return true
}

// outdated reports whether a task differs from its feature, which changed while
// the task ran.
func (m *maker) outdated(f Feature, t coppice.Task) bool {
	if f.Name != t.Title || f.Description != t.Body || f.Category != t.Category || f.Priority != t.Priority || f.Budget != t.Budget ||
		!slices.Equal(f.Steps, t.Steps) || f.Agent != "" && f.Agent != t.Agent || f.Model != "" && f.Model != t.Model {
		return true
	}
	var after []int64
	for _, id := range f.DependsOn {
		dep, has := m.Tasks[id]
		if m.find(id).Status != Passed && (!has || !slices.Contains(t.After, dep.ID)) {
			return true
		}
		after = append(after, dep.ID)
	}
	return slices.ContainsFunc(t.After, func(id int64) bool { return !slices.Contains(after, id) })
}

// renew gives a failed task the current request of its feature, for its next
// retry. If a dependency blocks the feature, the task is not retried.
func (m *maker) renew(f Feature, t coppice.Task) bool {
	ask, blocked := m.ask(f)
	if blocked != "" {
		m.waits(f, blocked)
		if m.restarts(t) {
			m.plan.Retry = m.plan.Retry[:len(m.plan.Retry)-1]
		}
		return false
	}
	m.plan.Change = append(m.plan.Change, Change{Key: t.Key, Ask: ask})
	return true
}

func (m *maker) note(format string, args ...any) {
	m.plan.Notes = append(m.plan.Notes, m.List.Name+": "+fmt.Sprintf(format, args...))
}

func (m *maker) warn(format string, args ...any) {
	m.plan.Warnings = append(m.plan.Warnings, m.List.Name+": "+fmt.Sprintf(format, args...))
}

// started reports whether any work was done for a task.
func started(t coppice.Task) bool {
	return t.Sessions > 0 || t.Stage != coppice.StageWaiting && t.Stage != coppice.StageQueued && t.Stage != ""
}

// create requests a feature's task, unless a dependency blocks it.
func (m *maker) create(f Feature) {
	ask, blocked := m.ask(f)
	if blocked != "" {
		m.waits(f, blocked)
		return
	}
	m.plan.Create = append(m.plan.Create, ask)
}

// waits reports a feature that a dependency blocks.
func (m *maker) waits(f Feature, on string) {
	m.warn("feature %s waits: it depends on %s, which has failed; set that one to open to retry it", f.ID, on)
}

func (m *maker) change(f Feature, t coppice.Task) {
	if started(t) {
		m.note("feature %s was changed after its work started as %s; send the change with `coppice send %s`", f.ID, t.Key, t.Key)
		return
	}
	ask, blocked := m.ask(f)
	if blocked != "" {
		m.note("feature %s now depends on %s, which has failed and has no task; %s stays as it was", f.ID, blocked, t.Key)
		return
	}
	m.plan.Change = append(m.plan.Change, Change{Key: t.Key, Ask: ask})
}

// ask makes the request for a feature's task. If a dependency can never be
// done, it returns that dependency instead.
func (m *maker) ask(f Feature) (a Ask, blocked string) {
	a = Ask{Feature: f, Track: m.Policy.TrackFor(f.Category)}
	for _, id := range f.DependsOn {
		dep := m.find(id)
		t, has := m.Tasks[id]
		switch {
		case dep.Status == Passed:
		case has:
			a.After = append(a.After, t.Key)
		case m.creatable(dep):
			a.Refs = append(a.Refs, id)
		default:
			return a, id
		}
	}
	return a, ""
}

// creatable reports whether a feature without a task gets one. The list has no
// cycles, so this ends.
func (m *maker) creatable(f Feature) bool {
	const yes, no = 1, 2
	if s := m.state[f.ID]; s != 0 {
		return s == yes
	}
	ok := f.Wanted()
	for _, id := range f.DependsOn {
		dep := m.find(id)
		if _, has := m.Tasks[id]; ok && !has && dep.Status != Passed {
			ok = m.creatable(dep)
		}
	}
	if m.state[f.ID] = no; ok {
		m.state[f.ID] = yes
	}
	return ok
}

// asked returns a fingerprint of everything that a feature asks for.
func (m *maker) asked(f Feature) string {
	f.Status, f.Reason, f.Failure, f.Progress = "", "", "", ""
	b, err := json.Marshal(f)
	if err != nil {
		panic("features: encoding a feature: " + err.Error()) // a feature always encodes
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// removed stops tasks that have not started and whose features are no longer in
// the file.
func (m *maker) removed() {
	for _, id := range slices.Sorted(maps.Keys(m.Seen)) {
		t, has := m.Tasks[id]
		if _, there := m.List.byID[id]; there || !has || t.Ended() {
			continue
		}
		if started(t) {
			m.note("feature %s is no longer in the file, but %s is running; stop it if it should not continue", id, t.Key)
			continue
		}
		if seen := m.Seen[id]; !m.Accept && (m.Ran || seen.Held == Gone) {
			m.plan.Waits = append(m.plan.Waits, StatusChange{ID: id, From: seen.Status, To: Gone})
			seen.Held = Gone
			m.plan.Seen[id] = seen
			continue
		}
		m.plan.Stop[t.Key] = "its feature is no longer in " + m.List.Name
	}
}

// categories reports categories that no track lists, if tracks list any.
func (m *maker) categories() {
	listed := map[string]bool{}
	for _, t := range m.Policy.Tracks {
		for _, c := range t.Categories {
			listed[c] = true
		}
	}
	if len(listed) == 0 {
		return
	}
	var stray []string
	for _, f := range m.List.Features {
		if f.Category != "" && !listed[f.Category] {
			listed[f.Category] = true
			stray = append(stray, coppice.Quote(f.Category))
		}
	}
	if len(stray) == 0 {
		return
	}
	what, verb := "category", "belongs"
	if len(stray) > 1 {
		what, verb = "categories", "belong"
	}
	m.warn("the %s %s %s to no track; such features go to %s. Add to the categories of a track in coppice.yaml", what, cut(strings.Join(stray, ", "), 300), verb, m.Policy.TrackFor(""))
}

// mostReason limits the written reason of a failed feature.
const mostReason = 1000

// Restarted returns an ended task that was asked to restart, as it will be soon.
func Restarted(t coppice.Task) coppice.Task {
	if t.Restartable() {
		t.Stage, t.Outcome, t.EndedAt, t.Failure = coppice.StageWaiting, "", time.Time{}, nil
		t.Next = &coppice.Next{Role: coppice.RoleImplement}
	}
	return t
}

// Derive returns the status of a task as a features file has it. The role is
// that of its newest session, if it is in one.
func Derive(id string, t coppice.Task, role coppice.Role) Mark {
	mark := Mark{ID: id, Status: Open}
	if t.Next != nil && (t.Stage == coppice.StageWaiting || t.Stage == coppice.StageQueued) {
		role = t.Next.Role
	}
	switch {
	case t.Stage.Lands():
		mark.Status = Verifying
	case t.Ended():
		if t.Outcome == coppice.OutcomeDone {
			mark.Status = Passed
			break
		}
		mark.Status, mark.Failure = Failed, "unknown"
		mark.Reason = "it was stopped"
		if t.Reverted != nil {
			mark.Reason = "it had landed and was " + t.Reverted.String()
		}
		if t.Failure != nil {
			mark.Reason, mark.Failure = cut(strings.TrimSpace(strings.ToValidUTF8(t.Failure.Text, "")), mostReason), category(t.Failure.Class)
		}
	default:
		if role == coppice.RoleVerify || role == coppice.RoleFix {
			mark.Status = Verifying
		}
	}
	return mark
}

// category returns a features file's name for a class of failure.
func category(c coppice.Class) string {
	switch c {
	case coppice.ClassEnvironment, coppice.ClassRateLimit, coppice.ClassOverload, coppice.ClassAuth, coppice.ClassBilling, coppice.ClassCapability,
		coppice.ClassMemory, coppice.ClassDisk, coppice.ClassMCP, coppice.ClassLost, coppice.ClassBase:
		return "environment"
	case coppice.ClassTestOnly:
		return "test_only"
	case coppice.ClassImplementation, coppice.ClassContext, coppice.ClassTimeout, coppice.ClassUnchanged:
		return "implementation"
	case coppice.ClassVerification, coppice.ClassConflict:
		return "verification"
	}
	return "unknown"
}
