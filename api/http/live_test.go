package http_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
	"coppice/store"
)

// liveRun is a run whose facts a test changes.
type liveRun struct {
	mu      sync.Mutex
	run     coppice.Run
	text    string // of the first command
	changed chan struct{}
}

func (r *liveRun) Read(after coppice.RunPosition, most int) coppice.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := r.run
	if rest := r.text[min(int(after.Offset), len(r.text)):]; rest != "" && most > 0 {
		run.Output = []coppice.RunOutput{{Offset: after.Offset, Data: []byte(rest[:min(len(rest), 4)])}}
	}
	return run
}

func (r *liveRun) Wait(ctx context.Context, version int64) error {
	r.mu.Lock()
	now, changed := r.run.Version, r.changed
	r.mu.Unlock()
	if now != version {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *liveRun) write(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text += text
	r.run.Version++
	close(r.changed)
	r.changed = make(chan struct{})
}

// A stream of checks has the commands that wait and run, their output, and an
// end. It resumes after the last event, unless that is one of another run.
func TestFollowChecks(t *testing.T) {
	t.Parallel()
	run := &liveRun{changed: make(chan struct{}), run: coppice.Run{Attempt: 1, Version: 1, Commands: []coppice.CommandRun{{Command: "one", State: coppice.RunRunning}}}}
	b := setup(t, func(c *apihttp.Config) { c.Live = func(int64) apihttp.LiveRun { return run } })
	p, err := b.Intake.AddProject(b.Ctx, "/src/app")
	b.Must(err)
	k, err := b.Intake.CreateTasks(b.Ctx, p.Prefix, []coppice.NewTask{{Title: "a"}})
	b.Must(err)
	w := coppice.Work{
		Kind: coppice.WorkCheck, Key: "check", ProjectID: p.ID, TaskID: k[0].ID, State: coppice.WorkTaken, Attempt: 1,
		Spec: coppice.Raw(coppice.CheckSpec{Commands: []string{"one", "two"}}),
	}
	put := func() {
		b.Must(b.Store.Update(b.Ctx, func(tx store.Tx) error {
			if err := tx.Work.Put(&w); err != nil {
				return err
			}
			return tx.Log.Append(&coppice.Event{Kind: coppice.EventWorkFinished, TaskID: k[0].ID, By: "test"})
		}))
	}
	put()
	d, err := b.Client.Task(b.Ctx, k[0].Key)
	b.Must(err)
	if d.Running == nil || len(d.Running.Commands) != 2 || d.Running.Now().Command != "one" || d.Running.Commands[1].State != coppice.RunWaiting {
		t.Fatalf("running %+v", d.Running)
	}
	run.write("first")
	var got strings.Builder
	states := 0
	err = b.Client.FollowChecks(b.Ctx, k[0].Key, func(s api.RunningChecks) error {
		if states++; s.Run != d.Running.Run || len(s.Commands) != 2 {
			t.Errorf("state %+v", s)
		}
		return nil
	}, func(o coppice.RunOutput) error {
		if got.Write(o.Data); got.String() == "first" {
			run.write(" second")
		}
		if got.String() == "first second" { // it ends when its work does
			w.State = coppice.WorkFinished
			put()
		}
		return nil
	})
	if err != nil || got.String() != "first second" || states < 3 {
		t.Errorf("%q in %d states, %v", got.String(), states, err)
	}
	w.State = coppice.WorkTaken
	put()
	for id, want := range map[string]string{"": `"offset":0`, d.Running.Run + ".0.3": `"offset":3`, "1." + d.Running.Run + ".0.3": `"offset":0`, d.Running.Run + ".x": `"offset":0`} {
		if got := firstOutput(t, b, k[0].Key, id); !strings.Contains(got, want) {
			t.Errorf("after %q the first output is %s", id, got)
		}
	}
}

// firstOutput returns the first output on a stream that resumes after an event.
func firstOutput(t *testing.T, b *apitest.Bundle, key, after string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.Server.URL()+"/api/v1/tasks/"+key+"/checks/live", nil)
	b.Must(err)
	resp := send(b, req, []func(*http.Request){header("Last-Event-ID", after)})
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for name := ""; lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = text
		}
		if strings.HasPrefix(lines.Text(), "data: ") && name == "output" {
			return lines.Text()
		}
	}
	t.Fatal(lines.Err())
	return ""
}
