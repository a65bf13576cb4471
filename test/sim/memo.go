package sim

import (
	"fmt"
	"slices"

	"coppice"
	"coppice/store"
)

// memo has what was read since the last Update. The checks of a history read the same
// rows many times, which took most of its time.
type memo struct {
	tasks    map[int64]coppice.Task
	keys     map[string]int64
	projects map[int64]coppice.Project
	lists    map[string][]coppice.Task
	sessions map[int64][]coppice.Session
	live     *[]coppice.Session
	landings map[int64][]coppice.Landing
}

func newMemo() *memo {
	return &memo{
		tasks: map[int64]coppice.Task{}, keys: map[string]int64{}, projects: map[int64]coppice.Project{}, lists: map[string][]coppice.Task{},
		sessions: map[int64][]coppice.Session{}, landings: map[int64][]coppice.Landing{},
	}
}

// over returns a Reader that reads the rows of the memo only once.
func (m *memo) over(r store.Reader) store.Reader {
	r.Projects, r.Tasks, r.Families = projectMemo{r.Projects, m}, taskMemo{r.Tasks, m}, familyMemo{r.Families, m}
	r.Sessions, r.Landings = sessionMemo{r.Sessions, m}, landingMemo{r.Landings, m}
	return r
}

// once returns the value of a key, and reads it if it is not known.
func once[K comparable, V any](known map[K]V, k K, read func(K) (V, error)) (V, error) {
	if v, ok := known[k]; ok {
		return v, nil
	}
	v, err := read(k)
	if err == nil {
		known[k] = v
	}
	return v, err
}

// all is once for a list, which the caller can change.
func all[K comparable, V any](known map[K][]V, k K, read func(K) ([]V, error)) ([]V, error) {
	v, err := once(known, k, read)
	return slices.Clone(v), err
}

// listed is all for a list of tasks, each of which is known then.
func (m *memo) listed(name string, read func() ([]coppice.Task, error)) ([]coppice.Task, error) {
	return all(m.lists, name, func(string) ([]coppice.Task, error) {
		tasks, err := read()
		for _, t := range tasks {
			m.tasks[t.ID], m.keys[t.Key] = t, t.ID
		}
		return tasks, err
	})
}

type projectMemo struct {
	store.ProjectReader
	m *memo
}

func (p projectMemo) Get(id int64) (coppice.Project, error) {
	return once(p.m.projects, id, p.ProjectReader.Get)
}

type taskMemo struct {
	store.TaskReader
	m *memo
}

func (t taskMemo) Get(id int64) (coppice.Task, error) { return once(t.m.tasks, id, t.TaskReader.Get) }

func (t taskMemo) ByKey(key string) (coppice.Task, error) {
	if id, ok := t.m.keys[key]; ok {
		return t.m.tasks[id], nil
	}
	task, err := t.TaskReader.ByKey(key)
	if err == nil {
		t.m.tasks[task.ID], t.m.keys[task.Key] = task, task.ID
	}
	return task, err
}

func (t taskMemo) List(f store.TaskFilter) ([]coppice.Task, error) {
	return t.m.listed(fmt.Sprintf("%+v", f), func() ([]coppice.Task, error) { return t.TaskReader.List(f) })
}

type familyMemo struct {
	store.FamilyReader
	m *memo
}

func (f familyMemo) Children(task int64) ([]coppice.Task, error) {
	return f.m.listed(fmt.Sprint("children ", task), func() ([]coppice.Task, error) { return f.FamilyReader.Children(task) })
}

func (f familyMemo) Steps(flow int64) ([]coppice.Task, error) {
	return f.m.listed(fmt.Sprint("steps ", flow), func() ([]coppice.Task, error) { return f.FamilyReader.Steps(flow) })
}

type sessionMemo struct {
	store.SessionReader
	m *memo
}

func (s sessionMemo) Of(task int64) ([]coppice.Session, error) {
	return all(s.m.sessions, task, s.SessionReader.Of)
}

func (s sessionMemo) Live() ([]coppice.Session, error) {
	if s.m.live == nil {
		live, err := s.SessionReader.Live()
		if err != nil {
			return nil, err
		}
		s.m.live = &live
	}
	return slices.Clone(*s.m.live), nil
}

type landingMemo struct {
	store.LandingReader
	m *memo
}

func (l landingMemo) Of(task int64) ([]coppice.Landing, error) {
	return all(l.m.landings, task, l.LandingReader.Of)
}
