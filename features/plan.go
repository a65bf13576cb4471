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

// Seen is what Coppice and the file last agreed on about a feature. It tells a
// status that a person wrote from one that Coppice has yet to write.
type Seen struct {
	Status Status `json:"status"`
	Asked  string `json:"asked"`           // a fingerprint of what is asked for
	Track  string `json:"track,omitempty"` // where its category leads; not known of what was agreed on long ago
	Hand   bool   `json:"hand,omitempty"`  // a person gave it its status, which stands until they set it to open
	Held   Status `json:"held,omitempty"`  // what the file says instead, which waits for a person

	// Writing is the status that Coppice was about to write. If the file has it,
	// Coppice wrote it, though nobody remembered that.
	Writing Status `json:"writing,omitempty"`
}

// Intend returns what is to be remembered before marks are written, of the
// features that were seen before.
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

// settled returns what was seen once it is known which statuses were written.
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

// Gone stands for the status of a feature that is no longer in the file.
const Gone Status = "gone"

// StatusChange is a status that changed in the file without Coppice.
type StatusChange struct {
	ID       string
	From, To Status
}

// Facts is what a plan is made from.
type Facts struct {
	List   *List
	Policy coppice.Policy
	Tasks  map[string]coppice.Task // the newest task of each feature
	Roles  map[string]coppice.Role // of the newest session, for features whose task is in a session
	Seen   map[string]Seen

	// Ran tells that a session of the project ran since the file was last read:
	// an agent may have changed it. Statuses that changed then wait.
	Ran bool
	// Accept tells that a person agrees to every status in the file.
	Accept bool
}

// Ask is a task that a feature asks for.
type Ask struct {
	Feature Feature
	Track   string
	After   []string // keys of tasks
	Refs    []string // ids of features whose tasks are created with it
}

// Change is a task that no longer is what its feature asks for.
type Change struct {
	Key string
	Ask
}

// Plan is what should follow from a list. Doing it twice does no harm.
type Plan struct {
	Create   []Ask
	Change   []Change
	Stop     map[string]string // keys of tasks, and why
	Retry    []string          // keys of tasks
	Marks    []Mark            // statuses to write into the file
	Notes    []string          // said once
	Warnings []string          // standing, until the file or the policy changes
	Waits    []StatusChange    // what a person has to agree to; nothing follows from it yet
	Seen     map[string]Seen   // once all of this is done
}

// Make says what should follow from the facts. It is pure.
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
	state map[string]int // of features without a task: whether one is created
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
	now := Seen{Status: f.Status, Asked: m.asked(f), Track: m.Policy.TrackFor(f.Category), Hand: seen.Hand && !f.Wanted(), Held: seen.Held}
	if !known || seen.Status != f.Status {
		now.Hand = m.said(f, task, has, known)
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
		rerouted := seen.Track != "" && seen.Track != now.Track && !begun(task)
		if seen.Asked != now.Asked || rerouted {
			m.change(f, task)
		}
	}
	mark := Derive(f.ID, task, m.Roles[f.ID])
	if m.again(task) {
		mark = Mark{ID: f.ID, Status: Open}
	}
	if !held && !now.Hand && differs(f, mark) {
		m.plan.Marks = append(m.plan.Marks, mark)
		now.Status = mark.Status
	}
	m.plan.Seen[f.ID] = now
}

// held tells whether the status that the file has for a feature waits for a
// person: it changed while a session ran, and something would follow from it.
// What the file says of a task that is done is only corrected.
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

// find returns a feature with the status that counts.
func (m *maker) find(id string) Feature {
	f, _ := m.List.Find(id)
	if m.held(f) {
		f.Status = m.Seen[id].Status
	}
	return f
}

// again tells whether the plan begins a task anew, so that how it ended before
// no longer counts.
func (m *maker) again(t coppice.Task) bool {
	n := len(m.plan.Retry)
	return n > 0 && m.plan.Retry[n-1] == t.Key
}

func differs(f Feature, mark Mark) bool {
	return f.Status != mark.Status || mark.Status == Failed && (f.Reason != mark.Reason || f.Failure != mark.Failure)
}

// said acts on a status that a person wrote, and tells whether it stands.
func (m *maker) said(f Feature, t coppice.Task, has, known bool) (hand bool) {
	switch {
	case !has:
		return false
	case f.Wanted():
		switch {
		case t.Ended() && t.Outcome != coppice.OutcomeDone:
			m.plan.Retry = append(m.plan.Retry, t.Key)
		case t.Ended() && known:
			m.note("feature %s was set to %s, but it has landed as %s; ask for what is missing by a feature of its own", f.ID, f.Status, t.Key)
		}
		return false
	case t.Ended():
	case !begun(t):
		m.plan.Stop[t.Key] = fmt.Sprintf("its feature was set to %s", f.Status)
	case Derive(f.ID, t, m.Roles[f.ID]).Status == f.Status:
		return false
	default:
		m.note("feature %s was set to %s while %s is at work on it; stop that if it should", f.ID, f.Status, t.Key)
	}
	return true
}

func (m *maker) note(format string, args ...any) {
	m.plan.Notes = append(m.plan.Notes, m.List.Name+": "+fmt.Sprintf(format, args...))
}

func (m *maker) warn(format string, args ...any) {
	m.plan.Warnings = append(m.plan.Warnings, m.List.Name+": "+fmt.Sprintf(format, args...))
}

// begun tells whether anything was done for a task.
func begun(t coppice.Task) bool {
	return t.Sessions > 0 || t.Stage != coppice.StageWaiting && t.Stage != coppice.StageQueued && t.Stage != ""
}

// create asks for a feature's task, unless something it depends on keeps it.
func (m *maker) create(f Feature) {
	ask, blocked := m.ask(f)
	if blocked != "" {
		m.warn("feature %s waits: it depends on %s, which has failed; set that to open to have it done", f.ID, blocked)
		return
	}
	m.plan.Create = append(m.plan.Create, ask)
}

func (m *maker) change(f Feature, t coppice.Task) {
	if begun(t) {
		m.note("feature %s was changed after the work on it began as %s; say what changed with `coppice send %s`", f.ID, t.Key, t.Key)
		return
	}
	ask, blocked := m.ask(f)
	if blocked != "" {
		m.note("feature %s now depends on %s, which has failed and has no task; %s stays as it was", f.ID, blocked, t.Key)
		return
	}
	m.plan.Change = append(m.plan.Change, Change{Key: t.Key, Ask: ask})
}

// ask makes the request for a feature's task. When something it depends on can
// never be done, it names that instead.
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

// creatable tells whether a feature without a task gets one. The list has no
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

// asked is a fingerprint of everything that a feature itself asks for.
func (m *maker) asked(f Feature) string {
	f.Status, f.Reason, f.Failure, f.Progress = "", "", "", ""
	b, err := json.Marshal(f)
	if err != nil {
		panic("features: encoding a feature: " + err.Error()) // a type of ours that cannot encode is a bug
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// removed stops what was not begun of features that are no longer there.
func (m *maker) removed() {
	for _, id := range slices.Sorted(maps.Keys(m.Seen)) {
		t, has := m.Tasks[id]
		if _, there := m.List.byID[id]; there || !has || t.Ended() {
			continue
		}
		if begun(t) {
			m.note("feature %s is no longer there, but %s is at work on it; stop that if it should", id, t.Key)
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

// categories notices those that no track lists, where tracks list any.
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

// mostReason bounds what is written of why a feature failed.
const mostReason = 1000

// Again returns an ended task that was asked to begin again as it will be in a
// moment.
func Again(t coppice.Task) coppice.Task {
	if t.Ended() && t.Outcome != coppice.OutcomeDone {
		t.Stage, t.Outcome, t.EndedAt, t.Failure = coppice.StageWaiting, "", time.Time{}, nil
		t.Next = &coppice.Next{Role: coppice.RoleImplement}
	}
	return t
}

// Derive says how far a task is in the words of a features file. The role is
// that of its newest session, when it is in one.
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

// category names a class of failure as features files do.
func category(c coppice.Class) string {
	switch c {
	case coppice.ClassEnvironment, coppice.ClassRateLimit, coppice.ClassOverload, coppice.ClassAuth, coppice.ClassBilling, coppice.ClassCapability,
		coppice.ClassMemory, coppice.ClassDisk, coppice.ClassMCP, coppice.ClassLost:
		return "environment"
	case coppice.ClassTestOnly:
		return "test_only"
	case coppice.ClassImplementation, coppice.ClassContext, coppice.ClassTimeout:
		return "implementation"
	case coppice.ClassVerification, coppice.ClassConflict:
		return "verification"
	}
	return "unknown"
}
