package cli_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/store"
)

// becomes changes a task as the engine would, with the event.
func (s *shell) becomes(key string, f func(*coppice.Task)) {
	s.T.Helper()
	s.Update(func(tx store.Tx) error {
		t, err := tx.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		f(&t)
		kind := coppice.EventTaskStage
		if t.Ended() {
			kind = coppice.EventTaskEnded
		}
		return errors.Join(tx.Tasks.Put(&t), tx.Log.Append(&coppice.Event{At: s.Clock.Now(), Kind: kind, ProjectID: t.ProjectID, TaskID: t.ID, Subject: t.Key, By: "pipeline"}))
	})
}

func (s *shell) ends(key string, how coppice.Outcome) {
	s.T.Helper()
	s.becomes(key, func(t *coppice.Task) {
		t.Stage, t.Wait, t.Outcome, t.EndedAt = coppice.StageEnded, nil, how, s.Clock.Now()
		if how == coppice.OutcomeFailed {
			t.Failure = coppice.Failf(coppice.ClassTestOnly, "its checks failed", "")
		}
	})
}

func needsPerson(t *coppice.Task) {
	t.Stage, t.Wait = coppice.StageWaiting, &coppice.Wait{On: coppice.WaitPerson, Text: "log in"}
}

// three creates three tasks.
func (s *shell) three() {
	s.Project("/src/app")
	for _, title := range []string{"One", "Two", "Three"} {
		s.Task("app", coppice.NewTask{Title: title})
	}
}

func TestWaitExitCodes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.three()
	s.ends("app-1", coppice.OutcomeDone)
	s.ends("app-2", coppice.OutcomeFailed)
	s.becomes("app-3", needsPerson)
	for line, want := range map[string]int{
		"app-1": 0, "app-2": 4, "app-3": 3, "app-1 app-3": 3, "app-1 app-3 app-2": 4, "app-1 app-1": 0,
		"app-3 --until needs-you": 3, "app-1 --until needs-you": 0, "app-2 --until ended": 4, "app-1 app-2 --until ended": 4,
		"app-1 app-2 app-3 --any": 0, "app-2 app-3 --any": 4, "app-2 app-1 --any --until ended": 4, "app-3 --any": 3,
		"app-3 --until ended --timeout 1ms": 124, "app-3 app-2 --until ended --timeout 1ms": 124,
		"app-99": 1, "": 2, "app-1 --until soon": 2, "app-1 --timeout -1s": 2, "app-1 --timeout soon": 2, "../x": 1,
	} {
		code, out, errs := s.run("", append([]string{"wait"}, strings.Fields(line)...)...)
		if code != want {
			t.Errorf("wait %s: exit %d, want %d\n%s%s", line, code, want, out, errs)
		}
		if silent := code == 0 || code == 3 || code == 4; silent != (errs == "") {
			t.Errorf("wait %s: exit %d, stderr %q", line, code, errs)
		}
	}
	s.golden(t, "wait", "wait", "app-1", "app-2", "app-3")
}

// waiting runs a command in the background. The function returns its result.
func (s *shell) waiting(args ...string) func() (code int, out, errs string) {
	type result struct {
		code      int
		out, errs string
	}
	done := make(chan result, 1)
	go func() {
		code, out, errs := s.run("", args...)
		done <- result{code, out, errs}
	}()
	return func() (int, string, string) {
		s.T.Helper()
		select {
		case r := <-done:
			return r.code, r.out, r.errs
		case <-time.After(time.Minute): // a safety net only
			s.T.Fatal("the command did not end")
			return 0, "", ""
		}
	}
}

func TestWaitFollowsEvents(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.three()
	landed := s.waiting("wait", "app-1", "app-2")
	ended := s.waiting("wait", "--until", "ended", "app-1", "--json")
	first := s.waiting("wait", "app-1", "app-2", "--any", "--json")
	s.ends("app-2", coppice.OutcomeDone)
	if code, out, _ := first(); code != 0 || !strings.Contains(out, `"key": "app-1"`) {
		t.Errorf("one of two: %d %s", code, out)
	}
	s.becomes("app-1", needsPerson)
	if code, out, errs := landed(); code != 3 || errs != "" || strings.Count(out, "\n") != 3 {
		t.Errorf("all: %d %s %s", code, out, errs)
	}
	s.ends("app-1", coppice.OutcomeCancelled)
	code, out, errs := ended()
	var list api.TaskList
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 4 || errs != "" || len(list.Tasks) != 1 || list.Tasks[0].Status != coppice.StatusCancelled {
		t.Errorf("ended: %d %v %s %s", code, err, out, errs)
	}
}

// TestWaitCountsOpenRequests runs wait just after retry, before the engine has
// looked at the request.
func TestWaitCountsOpenRequests(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.three()
	s.ends("app-1", coppice.OutcomeFailed)
	if code, _, errs := s.run("", "retry", "app-1"); code != 0 {
		t.Fatal(errs)
	}
	if code, _, errs := s.run("", "wait", "app-1", "--timeout", "1ms"); code != 124 || !strings.Contains(errs, "app-1 has not reached the state landed within 1ms") {
		t.Errorf("a request that is not carried out: %d %s", code, errs)
	}
	wait := s.waiting("wait", "app-1")
	s.Update(func(tx store.Tx) error {
		x, err := tx.Tasks.ByKey("app-1")
		if err != nil {
			return err
		}
		open, err := tx.Asks.Open(coppice.TaskSubject(x.ID))
		if err != nil {
			return err
		}
		open[0].SettledAt = s.Clock.Now()
		return tx.Asks.Put(&open[0])
	})
	s.ends("app-1", coppice.OutcomeDone)
	if code, out, errs := wait(); code != 0 {
		t.Errorf("%d %s %s", code, out, errs)
	}
}

func TestNewWaits(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Project("/src/app")
	wait := s.waiting("new", "Greet", "--wait", "--json")
	created := make(chan struct{})
	go func() {
		defer close(created)
		_ = s.Client.FollowEvents(s.Ctx, eventsFrom(0), func(ev api.Event) error {
			if ev.Kind == coppice.EventTaskCreated {
				return errors.New("created")
			}
			return nil
		}, nil)
	}()
	<-created
	s.ends("app-1", coppice.OutcomeDone)
	code, out, errs := wait()
	var list api.TaskList
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || errs != "app-1  Greet\n" || list.Tasks[0].Status != coppice.StatusDone {
		t.Errorf("%d %v %s %s", code, err, out, errs)
	}
	if code, _, errs := s.run("", "new", "x", "--timeout", "1s"); code != 2 || !strings.Contains(errs, "add --wait") {
		t.Errorf("%d %s", code, errs)
	}
}

func eventsFrom(after int64) client.EventQuery { return client.EventQuery{After: after} }
