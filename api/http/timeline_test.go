package http_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
	"coppice/store"
)

// outlineBars describes bars: "name from-to state", with times in minutes.
func outlineBars(bars []api.TimelineBar, start time.Time) string {
	var all []string
	minute := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return fmt.Sprint(t.Sub(start).Minutes())
	}
	for _, b := range bars {
		all = append(all, fmt.Sprintf("%s%s %s-%s %s", b.Session, b.Command, minute(b.From), minute(b.To), b.State))
	}
	return strings.Join(all, ", ")
}

// putCheck stores a check of a task that ended now, after a minute.
func putCheck(b *apitest.Bundle, key, command string, change func(*coppice.Check)) {
	b.Update(func(tx store.Tx) error {
		t, err := tx.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		now := b.Clock.Now()
		c := coppice.Check{ProjectID: t.ProjectID, TaskID: t.ID, Tree: "tree", Command: command, Took: time.Minute, StartedAt: now.Add(-time.Minute), EndedAt: now}
		if change != nil {
			change(&c)
		}
		return tx.Checks.Put(&c)
	})
}

// A timeline has the checks beside the sessions: those that ended, and those of
// an open run. A task's own timeline has all of them.
func TestTimelineOfChecks(t *testing.T) {
	t.Parallel()
	run := &liveRun{changed: make(chan struct{})}
	b := setup(t, func(c *apihttp.Config) { c.Live = func(int64) apihttp.LiveRun { return run } })
	b.Project("/src/app")
	b.Project("/src/web")
	start := b.Clock.Now()
	first := b.Task("app", coppice.NewTask{Title: "first"})
	b.Task("app", coppice.NewTask{Title: "second"})
	b.Task("web", coppice.NewTask{Title: "other"})
	b.Session(first.Key, coppice.SessionDone, func(s *coppice.Session) { s.EndedAt = start.Add(time.Minute) })
	b.Clock.Move(2 * time.Minute)
	putCheck(b, first.Key, "test", func(c *coppice.Check) { c.Exit = 1 })
	b.Clock.Move(time.Hour)
	putCheck(b, "app-2", "build", func(c *coppice.Check) { c.StartedAt = time.Time{} }) // as an earlier version stored it
	putCheck(b, "web-1", "lint", nil)
	now := b.Clock.Now()
	run.run = coppice.Run{Attempt: 1, Version: 1, Commands: []coppice.CommandRun{
		{Command: "npm ci", Setup: true, State: coppice.RunEnded, StartedAt: now, EndedAt: now},
		{Command: "one", State: coppice.RunEnded, StartedAt: now, EndedAt: now.Add(time.Minute)},
		{Command: "two", State: coppice.RunRunning, StartedAt: now.Add(time.Minute)},
	}}
	b.Update(func(tx store.Tx) error {
		return tx.Work.Put(&coppice.Work{
			Kind: coppice.WorkCheck, Key: "check", ProjectID: first.ProjectID, TaskID: first.ID, State: coppice.WorkTaken, Attempt: 1,
			Spec: coppice.Raw(coppice.CheckSpec{Commands: []string{"one", "two", "three"}}),
		})
	})
	for query, want := range map[string]string{
		"":               "web-1: lint 61-62 passed; app-2: build 61-62 passed; app-1: app-1.1 0-1 done, test 1-2 exit code 1, one 62-63 passed, two 63- running",
		"?project=web":   "web-1: lint 61-62 passed",
		"?task=app-1":    "app-1: app-1.1 0-1 done, test 1-2 exit code 1, one 62-63 passed, two 63- running",
		"?task=app-2":    "app-2: build 61-62 passed",
		"?from=" + since: "app-1: one 62-63 passed, two 63- running; web-1: lint 61-62 passed; app-2: build 61-62 passed",
	} {
		var rows []string
		for _, r := range read[api.Timeline](t, b, "/timeline"+query).Rows {
			rows = append(rows, r.Task+": "+outlineBars(r.Bars, start))
		}
		if got := strings.Join(rows, "; "); got != want {
			t.Errorf("%q:\n%s, want\n%s", query, got, want)
		}
	}
	all := read[api.Timeline](t, b, "/timeline?task=app-1").Rows[0].Bars
	if all[0].Kind != "session" || all[1].Kind != "check" || all[1].Check == 0 || !all[1].Failed || all[2].Check != 0 || all[3].Failed {
		t.Errorf("bars: %+v", all)
	}
	if resp, text := call(t, b, "GET", "/api/v1/timeline?task=app-9", ""); resp.StatusCode != 404 {
		t.Errorf("of an unknown task: %d %s", resp.StatusCode, text)
	}
}

// since is half an hour after the start of a test.
const since = "2026-03-04T12:30:00Z"
