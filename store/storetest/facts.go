package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/store"
)

func testNotFound(t *testing.T, open Open) {
	s := open(t)
	view(t, s, func(r store.Reader) error {
		for what, err := range map[string]error{
			"project":           second(r.Projects.Get(7)),
			"project by prefix": second(r.Projects.ByPrefix("none")),
			"project by path":   second(r.Projects.ByPath("/none")),
			"task":              second(r.Tasks.Get(7)),
			"task by key":       second(r.Tasks.ByKey("none-7")),
			"session":           second(r.Sessions.Get(7)),
			"caller":            second(r.Sessions.Caller(7)),
			"session by key":    second(r.Sessions.ByKey("none-7.1")),
			"work":              second(r.Work.Get(7)),
			"question":          second(r.Questions.Get(7)),
			"trash":             second(r.Trash.Get(7)),
			"comment":           second(r.Comments.Get(7)),
			"landing":           second(r.Landings.Get(7)),
			"check":             second(r.Checks.Get(7)),
			"document":          second(r.Documents.Get(7, "plan", 0)),
			"schedule":          second(r.Schedules.Get(7)),
			"schedule by name":  second(r.Schedules.ByName(7, "none")),
			"pull by number":    second(r.Pulls.ByNumber(7, 1)),
			"notice":            second(r.Notices.ByKey("none")),
			"notification":      second(r.Notifications.ByKey("none")),
		} {
			wantCode(t, what, err, coppice.ENotFound)
		}
		return nil
	})
	err := s.Update(t.Context(), func(tx store.Tx) error { return tx.Outputs.Add(7, 0, 1, nil) })
	wantCode(t, "output of no session", err, coppice.ENotFound)
}

// sessionAndCaller returns a session. It fails if Caller returns another one.
func sessionAndCaller(r store.Reader, id int64) (coppice.Session, error) {
	s, err := r.Sessions.Get(id)
	c, callerErr := r.Sessions.Caller(id)
	want := coppice.Session{ID: id, ProjectID: s.ProjectID, TaskID: s.TaskID, N: s.N, Key: s.Key, Role: s.Role, Path: s.Path, State: s.State, ParkedAt: s.ParkedAt}
	if err == nil && callerErr == nil && !reflect.DeepEqual(want, c) {
		err = fmt.Errorf("the caller is %+v, want %+v", c, want)
	}
	return s, errors.Join(err, callerErr)
}

func second[T any](_ T, err error) error { return err }

func testNone(t *testing.T, open Open) {
	s := open(t)
	view(t, s, func(r store.Reader) error {
		for what, got := range map[string]any{
			"last session":  must(r.Sessions.Last(7)) == nil,
			"last landing":  must(r.Landings.Last(7)) == nil,
			"workspace":     must(r.Workspaces.Of(7)) == nil,
			"pull request":  must(r.Pulls.Of(7)) == nil,
			"issue":         must(r.Issues.Of(7)) == nil,
			"named issue":   must(r.Issues.Named(7, "1")) == nil,
			"next issue":    must(r.Issues.Next(7)).IsZero(),
			"issues":        len(must(r.Issues.List(store.IssueFilter{ProjectID: 7, Ended: true}))) == 0,
			"trackers":      len(must(r.Trackers.In(7))) == 0,
			"forge":         must(r.Forges.Of(7)).NextAt.IsZero(),
			"work by key":   must(r.Work.ByKey("none")) == nil,
			"open question": must(r.Questions.Open(7)) == nil,
			"next timer":    must(r.Timers.Next()).IsZero(),
			"next notice":   must(r.Notices.NextDue()).IsZero(),
			"kept notices":  must(r.Notices.KeptSince()).IsZero(),
			"cursor":        must(r.Log.Cursor("none")) == 0,
			"projects":      len(must(r.Projects.All())) == 0,
			"tasks":         len(must(r.Tasks.List(store.TaskFilter{}))) == 0,
			"running":       len(must(r.Lanes.Running())) == 0,
			"events":        len(must(r.Log.Events(0, 10, store.EventFilter{}))) == 0,
			"work":          len(must(r.Work.Count())) == 0,
		} {
			if got != true {
				t.Errorf("%s: an empty store has one", what)
			}
		}
		first, last, err := r.Log.Bounds()
		if first != 0 || last != 0 {
			t.Errorf("event bounds: %d to %d", first, last)
		}
		_, ok, _ := r.Lanes.Next(coppice.Lane{})
		if ok {
			t.Error("an empty store has a lane")
		}
		return err
	})
}

// must returns the result of a read that should not fail. It panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// testRoundTrips writes facts with random values in every field, twice each: as a
// new row and as a replacement.
func testRoundTrips(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k := task(t, s, p, 1, nil)
	c := session(t, s, k, 1, nil)
	q, source := project(t, s, "web"), coppice.Tracker{ProjectID: p.ID, Name: "github"}
	update(t, s, func(tx store.Tx) error { return tx.Trackers.Put(&source) })
	n := 0
	name := func(what string) string { n++; return fmt.Sprintf("%s-%d", what, n) }
	type row struct {
		name  string
		value any
		fix   func(any) // sets the fields that cannot be random
		put   func(store.Tx, any) error
		get   func(store.Reader, any) (any, error)
	}
	rows := []row{
		{"project", &coppice.Project{}, func(v any) {
			x := v.(*coppice.Project)
			x.Prefix, x.Path, x.BaseCommit, x.CheckEnv = name("p"), name("/p"), "", "" // the queue and the checks have the last two
			x.Needs = x.Needs[:min(len(x.Needs), 1)]
			for i := range x.Needs {
				x.Needs[i].Kind = coppice.NeedPolicy
			}
		},
			func(tx store.Tx, v any) error { return tx.Projects.Put(v.(*coppice.Project)) },
			func(r store.Reader, v any) (any, error) { return r.Projects.Get(v.(*coppice.Project).ID) }},
		{"task", &coppice.Task{}, func(v any) {
			x := v.(*coppice.Task)
			x.ProjectID, x.Key, x.After = p.ID, name("key"), []int64{k.ID}
		},
			func(tx store.Tx, v any) error { return tx.Tasks.Put(v.(*coppice.Task)) },
			func(r store.Reader, v any) (any, error) { return r.Tasks.Get(v.(*coppice.Task).ID) }},
		{"listed task", &coppice.Task{}, func(v any) {
			x := v.(*coppice.Task)
			x.ProjectID, x.Key, x.After = p.ID, name("key"), nil
		},
			func(tx store.Tx, v any) error { return tx.Tasks.Put(v.(*coppice.Task)) },
			func(r store.Reader, v any) (any, error) {
				return newest(r.Tasks.List(store.TaskFilter{BeforeID: v.(*coppice.Task).ID + 1, Most: 1}))
			}},
		{"session", &coppice.Session{}, func(v any) {
			x := v.(*coppice.Session)
			x.ProjectID, x.TaskID, x.Key = p.ID, k.ID, name("app-1")
			x.Prompt += "." // an empty prompt would keep the old one
		},
			func(tx store.Tx, v any) error { return tx.Sessions.Put(v.(*coppice.Session)) },
			func(r store.Reader, v any) (any, error) { return sessionAndCaller(r, v.(*coppice.Session).ID) }},
		{"workspace", &coppice.Workspace{}, func(v any) { v.(*coppice.Workspace).TaskID = k.ID },
			func(tx store.Tx, v any) error { return tx.Workspaces.Put(v.(*coppice.Workspace)) },
			func(r store.Reader, v any) (any, error) { return deref(r.Workspaces.Of(k.ID)) }},
		{"preview", &coppice.Preview{}, func(v any) { v.(*coppice.Preview).TaskID = k.ID },
			func(tx store.Tx, v any) error { return tx.Previews.Put(v.(*coppice.Preview)) },
			func(r store.Reader, v any) (any, error) { return deref(r.Previews.Last(k.ID)) }},
		{"hook run", &coppice.HookRun{}, func(v any) { x := v.(*coppice.HookRun); x.Key, x.TaskID, x.ProjectID = name("hook"), k.ID, p.ID },
			func(tx store.Tx, v any) error { return tx.Hooks.Put(v.(*coppice.HookRun)) },
			func(r store.Reader, v any) (any, error) { return r.Hooks.ByKey(v.(*coppice.HookRun).Key) }},
		{"queue", &coppice.Queue{}, func(v any) { x := v.(*coppice.Queue); x.ProjectID, x.Branch = p.ID, name("branch") },
			func(tx store.Tx, v any) error { return tx.Queues.Put(v.(*coppice.Queue)) },
			func(r store.Reader, v any) (any, error) { return r.Queues.Get(v.(*coppice.Queue).ID) }},
		{"ask", &coppice.Ask{}, func(v any) { v.(*coppice.Ask).SettledAt = time.Time{} },
			func(tx store.Tx, v any) error { return tx.Asks.Put(v.(*coppice.Ask)) },
			func(r store.Reader, v any) (any, error) { return newest(r.Asks.Open(v.(*coppice.Ask).Subject)) }},
		{"landing", &coppice.Landing{}, func(v any) { v.(*coppice.Landing).TaskID = k.ID },
			func(tx store.Tx, v any) error { return tx.Landings.Put(v.(*coppice.Landing)) },
			func(r store.Reader, v any) (any, error) { return r.Landings.Get(v.(*coppice.Landing).ID) }},
		{"check", &coppice.Check{}, func(v any) { v.(*coppice.Check).TaskID = k.ID },
			func(tx store.Tx, v any) error { return tx.Checks.Put(v.(*coppice.Check)) },
			func(r store.Reader, v any) (any, error) { return r.Checks.Get(v.(*coppice.Check).ID) }},
		{"work", &coppice.Work{}, func(v any) { x := v.(*coppice.Work); x.TaskID, x.Key = k.ID, name("work") },
			func(tx store.Tx, v any) error { return tx.Work.Put(v.(*coppice.Work)) },
			func(r store.Reader, v any) (any, error) { return r.Work.Get(v.(*coppice.Work).ID) }},
		{"question", &coppice.Question{}, func(v any) { v.(*coppice.Question).TaskID = k.ID },
			func(tx store.Tx, v any) error { return tx.Questions.Put(v.(*coppice.Question)) },
			func(r store.Reader, v any) (any, error) { return r.Questions.Get(v.(*coppice.Question).ID) }},
		{"message", &coppice.Message{}, func(v any) { v.(*coppice.Message).TaskID = k.ID },
			func(tx store.Tx, v any) error { return tx.Messages.Put(v.(*coppice.Message)) },
			func(r store.Reader, v any) (any, error) { return newest(r.Messages.Of(k.ID)) }},
		{"comment", &coppice.Comment{}, func(v any) { v.(*coppice.Comment).TaskID = k.ID },
			func(tx store.Tx, v any) error { return tx.Comments.Put(v.(*coppice.Comment)) },
			func(r store.Reader, v any) (any, error) { return r.Comments.Get(v.(*coppice.Comment).ID) }},
		{"listed comment", &coppice.Comment{}, func(v any) { v.(*coppice.Comment).TaskID = k.ID },
			func(tx store.Tx, v any) error { return tx.Comments.Put(v.(*coppice.Comment)) },
			func(r store.Reader, v any) (any, error) { return newest(r.Comments.Of(k.ID)) }},
		{"viewed", &coppice.Viewed{}, func(v any) { x := v.(*coppice.Viewed); x.TaskID, x.By, x.Path = k.ID, "person", "a.go" },
			func(tx store.Tx, v any) error { return tx.Viewed.Put(*v.(*coppice.Viewed)) },
			func(r store.Reader, v any) (any, error) { return newest(r.Viewed.Of(k.ID)) }},
		{"lock", &coppice.Lock{}, func(v any) {
			x := v.(*coppice.Lock)
			x.ProjectID, x.SessionID, x.Name, x.Owner = p.ID, c.ID, "a.go", coppice.LockOwner{Session: c.Key, Task: k.Key, State: c.State}
		},
			func(tx store.Tx, v any) error { return tx.Locks.Put(*v.(*coppice.Lock)) },
			func(r store.Reader, v any) (any, error) { return newest(r.Locks.Held(p.ID)) }},
		{"lock request", &coppice.LockRequest{}, func(v any) {
			x := v.(*coppice.LockRequest)
			x.ProjectID, x.SessionID, x.Owner = p.ID, c.ID, coppice.LockOwner{Session: c.Key, Task: k.Key, State: c.State}
		},
			func(tx store.Tx, v any) error { return tx.Locks.PutRequest(v.(*coppice.LockRequest)) },
			func(r store.Reader, v any) (any, error) { return newest(r.Locks.Requests(p.ID)) }},
		{"document", &coppice.Document{}, func(v any) { x := v.(*coppice.Document); x.TaskID, x.Name = k.ID, "plan" },
			func(tx store.Tx, v any) error { return tx.Documents.Put(v.(*coppice.Document)) },
			func(r store.Reader, v any) (any, error) { return newest(r.Documents.Newest(k.ID)) }},
		{"schedule", &coppice.Schedule{}, func(v any) { x := v.(*coppice.Schedule); x.ProjectID, x.Name = p.ID, name("schedule") },
			func(tx store.Tx, v any) error { return tx.Schedules.Put(v.(*coppice.Schedule)) },
			func(r store.Reader, v any) (any, error) { return r.Schedules.Get(v.(*coppice.Schedule).ID) }},
		{"pull request", &coppice.Pull{}, func(v any) { x := v.(*coppice.Pull); x.ProjectID, x.TaskID = p.ID, k.ID },
			func(tx store.Tx, v any) error {
				x := v.(*coppice.Pull)
				if old, err := tx.Pulls.Of(k.ID); err != nil || old != nil {
					x.ID = old.ID // a task has at most one
				}
				return tx.Pulls.Put(x)
			},
			func(r store.Reader, v any) (any, error) {
				p, err := r.Pulls.Of(k.ID)
				return *p, err
			}},
		{"forge", &coppice.ForgeRow{}, func(v any) { v.(*coppice.ForgeRow).ProjectID = p.ID },
			func(tx store.Tx, v any) error { return tx.Forges.Put(*v.(*coppice.ForgeRow)) },
			func(r store.Reader, v any) (any, error) { return r.Forges.Of(p.ID) }},
		{"reaction", &coppice.Reacted{}, func(v any) { x := v.(*coppice.Reacted); x.ProjectID, x.TaskID, x.Key = p.ID, k.ID, name("reaction") },
			func(tx store.Tx, v any) error { return tx.Reactions.Put(v.(*coppice.Reacted)) },
			func(r store.Reader, v any) (any, error) { return newest(r.Reactions.Of(p.ID, k.ID)) }},
		{"notice", &coppice.Notice{}, func(v any) { x := v.(*coppice.Notice); x.Key, x.Priority = name("notice"), coppice.PriorityInfo },
			func(tx store.Tx, v any) error { return tx.Notices.Put(v.(*coppice.Notice)) },
			func(r store.Reader, v any) (any, error) { return r.Notices.ByKey(v.(*coppice.Notice).Key) }},
		{"notification", &coppice.Notification{}, func(v any) { v.(*coppice.Notification).Key = name("notification") },
			func(tx store.Tx, v any) error { return tx.Notifications.Put(v.(*coppice.Notification)) },
			func(r store.Reader, v any) (any, error) { return r.Notifications.ByKey(v.(*coppice.Notification).Key) }},
		{"tracker", &coppice.Tracker{}, func(v any) { x := v.(*coppice.Tracker); x.ProjectID, x.Name = q.ID, name("tracker") },
			func(tx store.Tx, v any) error { return tx.Trackers.Put(v.(*coppice.Tracker)) },
			func(r store.Reader, v any) (any, error) {
				all, err := r.Trackers.In(q.ID)
				i := slices.IndexFunc(all, func(x coppice.Tracker) bool { return x.ID == v.(*coppice.Tracker).ID })
				return all[i], err
			}},
		{"issue", &coppice.Issue{}, func(v any) {
			x := v.(*coppice.Issue)
			x.ProjectID, x.TrackerID, x.TaskID, x.Issue = p.ID, source.ID, k.ID, name("issue")
			for i := range x.Read.Comments {
				x.Read.Comments[i].Own = false // only a worker knows it
			}
		},
			func(tx store.Tx, v any) error {
				x := v.(*coppice.Issue)
				if old, err := tx.Issues.Of(k.ID); err != nil || old != nil {
					x.ID = old.ID // a task has at most one
				}
				return tx.Issues.Put(x)
			},
			func(r store.Reader, v any) (any, error) { return deref(r.Issues.Of(k.ID)) }},
		{"trash", &coppice.Trash{}, func(any) {},
			func(tx store.Tx, v any) error { return tx.Trash.Put(v.(*coppice.Trash)) },
			func(r store.Reader, v any) (any, error) { return r.Trash.Get(v.(*coppice.Trash).ID) }},
		{"event", &coppice.Event{}, func(any) {},
			func(tx store.Tx, v any) error { return tx.Log.Append(v.(*coppice.Event)) },
			func(r store.Reader, v any) (any, error) {
				return newest(r.Log.Events(v.(*coppice.Event).Seq-1, 1, store.EventFilter{}))
			}},
		{"output", &coppice.Output{}, func(v any) { x := v.(*coppice.Output); x.SessionID, x.Size = c.ID, 0 },
			func(tx store.Tx, v any) error {
				now, err := tx.Sessions.Get(c.ID)
				x := v.(*coppice.Output)
				x.Offset = now.Cursor + 1
				return firstOf(err, tx.Outputs.Add(c.ID, now.Cursor, now.Cursor+1, []coppice.Output{*x}))
			},
			func(r store.Reader, v any) (any, error) {
				return newest(r.Outputs.After(c.ID, v.(*coppice.Output).Offset-1, 1))
			}},
	}
	rapid.Check(t, func(rt *rapid.T) {
		values := make([]reflect.Value, len(rows))
		for i, row := range rows {
			values[i] = reflect.New(reflect.TypeOf(row.value).Elem())
		}
		for _, turn := range []string{"new", "replaced"} {
			for i, row := range rows {
				redraw(rt, values[i], row.name, turn == "replaced")
				row.fix(values[i].Interface())
			}
			err := s.Update(t.Context(), func(tx store.Tx) error {
				for i, row := range rows {
					if err := row.put(tx, values[i].Interface()); err != nil {
						return fmt.Errorf("%s %s: %w", turn, row.name, err)
					}
				}
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
			err = s.View(t.Context(), func(r store.Reader) error {
				for i, row := range rows {
					got, err := row.get(r, values[i].Interface())
					if err != nil {
						return fmt.Errorf("%s %s: %w", turn, row.name, err)
					}
					if d := diff(values[i].Elem().Interface(), got); d != "" {
						return fmt.Errorf("%s %s (-want +got):\n%s", turn, row.name, d)
					}
				}
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// redraw draws new values for all fields except the id and, if it replaces a
// session, the fields that belong to its output.
func redraw(rt *rapid.T, v reflect.Value, label string, replaced bool) {
	old := reflect.New(v.Elem().Type()).Elem()
	old.Set(v.Elem())
	fill(rt, v.Elem(), label)
	keep := []string{"ID"}
	if replaced && label == "session" {
		keep = append(keep, "Cursor", "OutputAt")
	}
	for _, name := range keep {
		if f := v.Elem().FieldByName(name); f.IsValid() {
			f.Set(old.FieldByName(name))
		}
	}
}

func deref[T any](v *T, err error) (any, error) {
	if err != nil || v == nil {
		return nil, err
	}
	return *v, nil
}

func newest[T any](list []T, err error) (any, error) {
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[len(list)-1], nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// fill draws a value for every field, so that a new field of a domain type is
// tested without further code.
func fill(rt *rapid.T, v reflect.Value, label string) {
	switch v.Interface().(type) {
	case time.Time:
		ns := rapid.OneOf(rapid.Just(int64(-1)), rapid.Int64Range(0, start.UnixNano()*2)).Draw(rt, label)
		if ns < 0 {
			v.Set(reflect.ValueOf(time.Time{}))
		} else {
			v.Set(reflect.ValueOf(time.Unix(0, ns).UTC()))
		}
		return
	case json.RawMessage:
		text := rapid.String().Draw(rt, label)
		v.Set(reflect.ValueOf(coppice.Raw(map[string]string{"text": text})))
		return
	case coppice.Duration:
		v.SetInt(int64(time.Hour) * rapid.Int64Range(1, 23).Draw(rt, label))
		return
	case coppice.Bytes:
		v.SetInt(rapid.Int64Range(0, 1<<40).Draw(rt, label))
		return
	case coppice.Percent:
		v.SetInt(rapid.Int64Range(1, 100).Draw(rt, label))
		return
	case coppice.Subject:
		v.Set(reflect.ValueOf(coppice.TaskSubject(rapid.Int64Range(1, 1<<40).Draw(rt, label))))
		return
	case coppice.Actor:
		v.Set(reflect.ValueOf(coppice.Actor{Kind: coppice.ActorPerson, Name: rapid.StringMatching("[a-z:]{0,9}").Draw(rt, label)}))
		return
	case coppice.Stage:
		v.SetString(string(rapid.SampledFrom([]coppice.Stage{coppice.StageQueued, coppice.StageWaiting, coppice.StageEnded}).Draw(rt, label)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rt, v.Field(i), label+"."+v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(rt, label) {
			v.SetZero()
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(rt, v.Elem(), label)
	case reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(rt, label)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(rt, v.Index(i), label)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(0, 2).Draw(rt, label) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(rt, key, label)
			fill(rt, value, label)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(strings.ToValidUTF8(rapid.String().Draw(rt, label), ""))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(rt, label))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(-1<<40, 1<<40).Draw(rt, label))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(rt, label)))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(0, 1e6).Draw(rt, label))
	default:
		panic("cannot draw a " + v.Type().String())
	}
}
