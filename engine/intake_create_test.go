package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
	"coppice/store"
)

func TestCreateTask(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Agent.Model = "big" })
	first := b.create(coppice.NewTask{Title: " Greet \t", Body: "b", Priority: 3, Checks: []string{"make"}, NotBefore: noon.Add(time.Hour).In(time.FixedZone("", 3600))})[0]
	want := coppice.Task{
		ID: first.ID, ProjectID: 1, Num: 1, Key: "app-1", Title: "Greet", Body: "b", Priority: 3, Track: "main", Agent: "ann", Model: "big",
		Checks: []string{"make"}, NotBefore: noon.Add(time.Hour), CreatedAt: noon, CreatedBy: "person", Stage: coppice.StageWaiting, StageAt: noon,
		Next: &coppice.Next{Role: coppice.RoleImplement, Agent: "ann", Model: "big"},
	}
	if d := cmp.Diff(want, first); d != "" {
		t.Errorf("created (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, b.task("app-1")); d != "" {
		t.Errorf("stored (-want +got):\n%s", d)
	}
	other := b.create(coppice.NewTask{Title: "b", Agent: "bob", After: []string{"app-1", "app-1"}})[0]
	if other.Model != "" || other.Key != "app-2" || !cmp.Equal(other.After, []int64{first.ID}) {
		t.Errorf("a task for another agent: %+v", other)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "there"})
	many := make([]coppice.NewTask, mostTasks+1)
	for _, c := range []struct {
		name    string
		project string
		tasks   []coppice.NewTask
		code    coppice.Code
		field   string
		says    string
	}{
		{"none", "app", nil, coppice.EInvalid, "", "no task"},
		{"too many", "app", many, coppice.ETooLarge, "", "2000 are allowed"},
		{"no project", "nope", []coppice.NewTask{{Title: "a"}}, coppice.ENotFound, "", ""},
		{"no title", "app", []coppice.NewTask{{Title: "  "}}, coppice.EInvalid, "title", "empty"},
		{"long title", "app", []coppice.NewTask{{Title: strings.Repeat("x", 501)}}, coppice.EInvalid, "title", "--body"},
		{"two lines", "app", []coppice.NewTask{{Title: "a\nb"}}, coppice.EInvalid, "title", "line break"},
		{"title not UTF-8", "app", []coppice.NewTask{{Title: "\xff"}}, coppice.EInvalid, "title", "UTF-8"},
		{"huge body", "app", []coppice.NewTask{{Title: "a", Body: strings.Repeat("x", coppice.MaxBody+1)}}, coppice.ETooLarge, "body", ""},
		{"zero byte", "app", []coppice.NewTask{{Title: "a", Body: "a\x00"}}, coppice.EInvalid, "body", "zero byte"},
		{"too urgent", "app", []coppice.NewTask{{Title: "a", Priority: 11}}, coppice.EInvalid, "priority", "from -10 to 10"},
		{"too idle", "app", []coppice.NewTask{{Title: "a", Priority: -11}}, coppice.EInvalid, "priority", "from -10 to 10"},
		{"track", "app", []coppice.NewTask{{Title: "a", Track: "nope"}}, coppice.EInvalid, "track", "the tracks of app are: main"},
		{"agent's name", "app", []coppice.NewTask{{Title: "a", Agent: "--help"}}, coppice.EInvalid, "", "not a valid agent name"},
		{"agent", "app", []coppice.NewTask{{Title: "a", Agent: "nobody"}}, coppice.EInvalid, "agent", "nobody"},
		{"model", "app", []coppice.NewTask{{Title: "a", Model: "--x"}}, coppice.EInvalid, "", "not a valid model name"},
		{"empty check", "app", []coppice.NewTask{{Title: "a", Checks: []string{"make", " "}}}, coppice.EInvalid, "checks", "shell command"},
		{"long check", "app", []coppice.NewTask{{Title: "a", Checks: []string{strings.Repeat("x", 4097)}}}, coppice.EInvalid, "checks", ""},
		{"after nothing", "app", []coppice.NewTask{{Title: "a", After: []string{"app-9"}}}, coppice.EInvalid, "after", `no task "app-9"`},
		{"after no key", "app", []coppice.NewTask{{Title: "a", After: []string{"x; rm"}}}, coppice.EInvalid, "after", ""},
		{"same ref", "app", []coppice.NewTask{{Title: "a", Ref: "r"}, {Title: "b", Ref: "r"}}, coppice.EInvalid, "ref", "tasks 1 and 2"},
		{"after itself", "app", []coppice.NewTask{{Title: "a", Ref: "r", After: []string{"r"}}}, coppice.EInvalid, "after", "r → r"},
		{"cycle", "app", []coppice.NewTask{
			{Title: "z", Ref: "z", After: []string{"a"}}, {Title: "a", Ref: "a", After: []string{"b"}},
			{Title: "b", Ref: "b", After: []string{"c"}}, {Title: "c", Ref: "c", After: []string{"a"}},
		}, coppice.EInvalid, "after", "a → b → c → a"},
		{"a context value's name", "app", []coppice.NewTask{{Title: "a", Context: map[string]string{"a b": "x"}}}, coppice.EInvalid, "context", "context value name"},
		{"a huge context value", "app", []coppice.NewTask{{Title: "a", Context: map[string]string{"big": strings.Repeat("x", 4097)}}}, coppice.ETooLarge, "context", "big: the text has 4097 bytes"},
		{"a context value with a zero byte", "app", []coppice.NewTask{{Title: "a", Context: map[string]string{"zero": "\x00"}}}, coppice.EInvalid, "context", "zero byte"},
		{"many context values", "app", []coppice.NewTask{{Title: "a", Context: numbered(21)}}, coppice.ETooLarge, "context", "20 are allowed"},
		{"the second of two", "app", []coppice.NewTask{{Title: "a"}, {Title: "b", Priority: 99}}, coppice.EInvalid, "tasks[1].priority", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.seq()
			made, err := b.CreateTasks(t.Context(), c.project, c.tasks)
			e := coppice.Public(err)
			if made != nil || e.Code != c.code || c.field != "" && e.Field != c.field || !strings.Contains(e.Error(), c.says) {
				t.Errorf("got %q (%s, field %q), want %s, field %q with %q", e, e.Code, e.Field, c.code, c.field, c.says)
			}
			if b.seq() != before {
				t.Error("the log has grown")
			}
		})
	}
	if next := b.create(coppice.NewTask{Title: "next"})[0]; next.Key != "app-2" {
		t.Errorf("refused tasks used up numbers: the next is %s", next.Key)
	}
	b.update(func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix("app")
		if err != nil {
			return err
		}
		p.Policy.Agent.Use = ""
		return tx.Projects.Put(&p)
	})
	if _, err := b.CreateTasks(t.Context(), "app", []coppice.NewTask{{Title: "a"}}); coppice.Public(err).Field != "agent" {
		t.Errorf("without any agent: %v", err)
	}
}

// Two thousand tasks that come after each other, given in the wrong order.
func TestCreateMany(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	asked := make([]coppice.NewTask, mostTasks)
	for i := range asked {
		asked[i] = coppice.NewTask{Title: fmt.Sprint("task ", i), Ref: fmt.Sprint("r", i)}
		if i+1 < len(asked) {
			asked[i].After = []string{fmt.Sprint("r", i+1)}
		}
	}
	made := b.create(asked...)
	if len(made) != mostTasks {
		t.Fatalf("%d were made", len(made))
	}
	for i, task := range made {
		if task.Title != asked[i].Title {
			t.Fatalf("task %d is %q", i, task.Title)
		}
		if i+1 < len(made) && !cmp.Equal(task.After, []int64{made[i+1].ID}) {
			t.Fatalf("%s comes after %v", task.Key, task.After)
		}
	}
	b.turn()
	if last := b.task(made[mostTasks-1].Key); last.Stage != coppice.StageSession {
		t.Errorf("the one that others wait for is %s", last.Stage)
	}
}

// Refs make a request in any order; it is refused exactly when they form a
// cycle.
func TestCreationOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(rt, "tasks")
		asked := make([]coppice.NewTask, n)
		after := make([][]int, n)
		for i := range asked {
			asked[i].Ref = fmt.Sprint("r", i)
			after[i] = rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, 2, rapid.ID[int]).Draw(rt, "after")
			for _, j := range after[i] {
				asked[i].After = append(asked[i].After, fmt.Sprint("r", j))
			}
		}
		order, err := creationOrder(asked)
		if (err != nil) != cyclic(after) {
			rt.Fatalf("%v: %v", after, err)
		}
		if err != nil {
			return
		}
		place := map[int]int{}
		for at, i := range order {
			place[i] = at
		}
		for i, list := range after {
			for _, j := range list {
				if place[j] >= place[i] || len(place) != n {
					rt.Fatalf("%v in the order %v", after, order)
				}
			}
		}
	})
}

// cyclic removes tasks without dependencies until none is left, or finds a
// cycle.
func cyclic(after [][]int) bool {
	gone := map[int]bool{}
	for range after {
		for i, list := range after {
			free := true
			for _, j := range list {
				free = free && gone[j]
			}
			gone[i] = gone[i] || free
		}
	}
	for i := range after {
		if !gone[i] {
			return true
		}
	}
	return false
}

func TestChangeTask(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b", After: []string{"app-1"}}, coppice.NewTask{Title: "c"})
	title, body, urgent, at, after := "new", "text", 5, noon.Add(time.Hour), []string{"app-2"}
	got, err := b.ChangeTask(t.Context(), "app-3", coppice.TaskChange{Title: &title, Body: &body, Priority: &urgent, NotBefore: &at, After: &after})
	b.must(err)
	if got.Title != "new" || got.Body != "text" || got.Priority != 5 || !got.NotBefore.Equal(at) || !cmp.Equal(got.After, []int64{2}) {
		t.Errorf("changed: %+v", got)
	}
	change := func(key string, c coppice.TaskChange) error { _, err := b.ChangeTask(t.Context(), key, c); return err }
	tooUrgent, big := 11, strings.Repeat("x", coppice.MaxBody+1)
	for name, err := range map[string]error{
		"cycle of three": change("app-1", coppice.TaskChange{After: &[]string{"app-3"}}),
		"cycle of two":   change("app-1", coppice.TaskChange{After: &[]string{"app-2"}}),
		"after itself":   change("app-1", coppice.TaskChange{After: &[]string{"app-1"}}),
		"after nothing":  change("app-1", coppice.TaskChange{After: &[]string{"app-99"}}),
		"too urgent":     change("app-1", coppice.TaskChange{Priority: &tooUrgent}),
		"huge body":      change("app-1", coppice.TaskChange{Body: &big}),
	} {
		if code := coppice.ErrorCode(err); code != coppice.EInvalid && code != coppice.ETooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := change("app-1", coppice.TaskChange{After: &[]string{"app-3"}}); !strings.Contains(err.Error(), "app-1 → app-3 → app-2 → app-1") {
		t.Errorf("a cycle does not say which: %v", err)
	}
	b.turn() // app-1 has begun
	if err := change("app-1", coppice.TaskChange{After: &[]string{}}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("changed what a task that runs comes after: %v", err)
	}
}

// A task is put between two others by naming them. The server finds the priority.
func TestATaskIsPutBetweenTwoOthers(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a", Priority: 5}, coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c"})
	put := func(key string, c coppice.TaskChange) (int, error) {
		got, err := b.ChangeTask(t.Context(), key, c)
		return got.Priority, err
	}
	for _, c := range []struct {
		between coppice.Between
		want    int
	}{
		{coppice.Between{Above: "app-1", Below: "app-2"}, 1},
		{coppice.Between{Below: "app-1"}, 6},
		{coppice.Between{Above: "app-2"}, 0},
	} {
		got, err := put("app-3", coppice.TaskChange{Between: &c.between})
		b.must(err)
		if got != c.want {
			t.Errorf("%+v: priority %d, want %d", c.between, got, c.want)
		}
	}
	n := 3
	for name, c := range map[string]struct {
		change coppice.TaskChange
		code   coppice.Code
		field  string
	}{
		"no task":        {coppice.TaskChange{Between: &coppice.Between{}}, coppice.EInvalid, "between"},
		"both":           {coppice.TaskChange{Priority: &n, Between: &coppice.Between{Above: "app-1"}}, coppice.EInvalid, "between"},
		"itself":         {coppice.TaskChange{Between: &coppice.Between{Below: "app-3"}}, coppice.EInvalid, "between.below"},
		"an unknown one": {coppice.TaskChange{Between: &coppice.Between{Above: "app-99"}}, coppice.ENotFound, ""},
	} {
		_, err := put("app-3", c.change)
		var e *coppice.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := b.task("app-3").Priority; got != 0 {
		t.Errorf("a refused request changed the priority to %d", got)
	}
}

// The request of a failed task can change, with its agent and dependencies. Its
// retry uses the new one.
func TestChangeAFailedTask(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.failedTask("a")
	b.create(coppice.NewTask{Title: "b"})
	title, body, model, steps, after := "new", "text", "big", []string{"one"}, []string{"app-2"}
	_, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Title: &title, Body: &body, Model: &model, Steps: &steps, After: &after})
	b.must(err)
	if got := b.task("app-1"); got.Outcome != coppice.OutcomeFailed || got.Failure == nil {
		t.Errorf("the change restarted it: %+v", got)
	}
	_, err = b.Retry(t.Context(), "app-1", "")
	b.must(err)
	b.turn()
	got := b.task("app-1")
	if got.Title != title || got.Body != body || len(got.Steps) != 1 || got.Next == nil || got.Next.Model != model || got.Wait == nil || got.Wait.Text != "waits for app-2" {
		t.Errorf("retried as %+v, next %+v, waits %+v", got, got.Next, got.Wait)
	}
}

// A queued task that is made to come after another waits for it.
func TestChangeAfterTakesItBack(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = 1 })
	b.create(coppice.NewTask{Title: "a", Priority: 1}, coppice.NewTask{Title: "b"})
	b.turn()
	if got := b.task("app-2").Stage; got != coppice.StageQueued {
		t.Fatalf("app-2 is %s", got)
	}
	after := []string{"app-1"}
	_, err := b.ChangeTask(t.Context(), "app-2", coppice.TaskChange{After: &after})
	b.must(err)
	b.turn()
	got := b.task("app-2")
	if got.Stage != coppice.StageWaiting || got.Wait == nil || got.Wait.Text != "waits for app-1" {
		t.Errorf("app-2 is %s, waits %+v", got.Stage, got.Wait)
	}
}

// numbered returns n context values.
func numbered(n int) map[string]string {
	values := map[string]string{}
	for i := range n {
		values[fmt.Sprint("v", i)] = "x"
	}
	return values
}
