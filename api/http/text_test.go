package http_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

// A task's detail stays small, whatever its checks wrote. Separate routes serve
// the whole texts.
func TestLongLogs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.Project("/src/app")
	one, other := b.Task("app", coppice.NewTask{Title: "one"}), b.Task("app", coppice.NewTask{Title: "other"})
	log := func(i int) string {
		return fmt.Sprintf("first line of %d\n", i) + strings.Repeat("€ a line\n", 20_000) + "last line"
	}
	const runs = 40 // 8 MB
	b.Update(func(tx store.Tx) error {
		for i := range runs {
			l := coppice.Landing{ProjectID: p.ID, TaskID: one.ID, Outcome: coppice.LandingRefused, Evidence: log(i)}
			if err := tx.Landings.Put(&l); err != nil {
				return err
			}
			c := coppice.Check{ProjectID: p.ID, TaskID: one.ID, LandingID: l.ID, Command: "make", Exit: 1, Log: log(i)}
			if err := tx.Checks.Put(&c); err != nil {
				return err
			}
		}
		return tx.Checks.Put(&coppice.Check{ProjectID: p.ID, TaskID: other.ID, Command: "make", Log: "short"})
	})
	_, text := call(t, b, http.MethodGet, "/api/v1/tasks/app-1", "")
	if len(text) > 1<<20 {
		t.Errorf("the detail has %d bytes", len(text))
	}
	d, err := b.Client.Task(b.Ctx, "app-1")
	b.Must(err)
	if len(d.CheckRuns) != runs || len(d.Landings) != runs {
		t.Fatalf("%d checks, %d landings", len(d.CheckRuns), len(d.Landings))
	}
	if l := d.Landings[0]; l.State != l.Landing.State() || l.StateText != l.Landing.StateText() || l.State == "" {
		t.Errorf("the landing is %q: %q", l.State, l.StateText)
	}
	newest := d.CheckRuns[runs-1]
	if !strings.HasPrefix(newest.Log, "first line of 39\n") || !strings.HasSuffix(newest.Log, "last line") || !newest.Cut {
		t.Errorf("the newest log: %.100q", newest.Log)
	}
	for i := range runs {
		got, err := b.Client.CheckLog(b.Ctx, "app-1", d.CheckRuns[i].ID)
		if err != nil || got != log(i) || !d.CheckRuns[i].Cut {
			t.Errorf("log %d: %v, %d bytes", i, err, len(got))
		}
		got, err = b.Client.Evidence(b.Ctx, "app-1", d.Landings[i].ID)
		if err != nil || got != log(i) || !d.Landings[i].Cut {
			t.Errorf("evidence %d: %v, %d bytes", i, err, len(got))
		}
	}
	if d, err := b.Client.Task(b.Ctx, "app-2"); err != nil || d.CheckRuns[0].Log != "short" || d.CheckRuns[0].Cut {
		t.Errorf("a short log: %v, %+v", err, d.CheckRuns)
	}
	for _, path := range []string{"/app-2/checks/1/log", "/app-2/landings/1/evidence", "/app-1/checks/999/log", "/app-9/checks/1/log"} {
		refuses(t, b, http.StatusNotFound, http.MethodGet, "/api/v1/tasks"+path, "")
	}
}

// The results of checks are the server's: how each ended, and how many count against
// the work.
func TestResultsOfChecks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Project("/src/app")
	task := b.Task("app", coppice.NewTask{Title: "one"})
	for _, change := range []func(*coppice.Check){
		nil,
		func(c *coppice.Check) { c.Exit = 1 },
		func(c *coppice.Check) { c.TimedOut = true },
		func(c *coppice.Check) { c.Exit, c.Signal, c.TimedOut = -1, "SIGKILL", true },
		func(c *coppice.Check) { c.Exit, c.OnBase = 1, true },
	} {
		putCheck(b, task.Key, "make", change)
	}
	d, err := b.Client.Task(b.Ctx, task.Key)
	b.Must(err)
	var got []coppice.CommandResult
	for _, c := range d.CheckRuns {
		got = append(got, c.Result)
	}
	if want := []coppice.CommandResult{"passed", "failed", "timed out", "killed", "failed"}; !slices.Equal(got, want) || d.Refusals != 2 {
		t.Errorf("the results are %q with %d refusals, want %q with 2", got, d.Refusals, want)
	}
}

// A log is shown as text, whatever it contains.
func TestALogIsText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.Project("/src/app")
	task := b.Task("app", coppice.NewTask{Title: "one"})
	b.Update(func(tx store.Tx) error {
		return tx.Checks.Put(&coppice.Check{ProjectID: p.ID, TaskID: task.ID, Command: "make", Log: "<script>alert(1)</script>"})
	})
	resp, text := call(t, b, http.MethodGet, "/api/v1/tasks/app-1/checks/1/log", "")
	for name, want := range map[string]string{"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "sandbox") || text != "<script>alert(1)</script>" {
		t.Errorf("%q %q", csp, text)
	}
}
