package e2e

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coppice"
	"coppice/api/client"
)

var (
	manyIssues = flag.Int("issues", 60, "how many issues TestDozensOfIssues creates")
	mostIssues = flag.Int("issuesactive", 6, "how many of them can be active at the same time")
)

// TestDozensOfIssues has dozens of issues at the same time. The server is killed at times.
// At most as many are active as the source allows, and each lands and is closed one time.
func TestDozensOfIssues(t *testing.T) {
	t.Parallel()
	of := gitlabSource(t)
	k := startIssues(t, of, fmt.Sprintf("active: %d, import: {labels: [agent]}", *mostIssues))
	w := k.w
	var issues []any
	for n := range *manyIssues {
		issues = append(issues, of.create(fmt.Sprintf("Part %d", n+1), fmt.Sprintf("Do part %d.", n+1), "agent"))
	}
	w.serve()
	prefix := w.task(w.new("Use the project")).Project
	k.start(*issueKills / 2)
	w.eventually("all issues are closed", func() bool {
		page, err := w.client.Issues(t.Context(), prefix, client.IssueQuery{Limit: 1})
		return err == nil && len(page.Sources) == 1 && page.Sources[0].Matching > 0 && page.Sources[0].Waiting+page.Sources[0].Active == 0 && len(page.Issues) == 0
	})
	w.checkClosed(of, issues, w.issueTasks())
	if most := w.mostActive(); most != min(*mostIssues, len(issues)) {
		t.Errorf("%d tasks of issues were active at the same time, want %d", most, *mostIssues)
	}
	landed := strings.Split(w.git("log", "--format=%s", "main"), "\n")
	for n := range issues {
		w.wantOnBase(fmt.Sprintf("part%d.txt", n+1), strconv.Itoa(n+1))
		if times := len(slices.DeleteFunc(slices.Clone(landed), func(s string) bool { return s != fmt.Sprintf("Part %d", n+1) })); times != 1 {
			t.Errorf("part %d landed %d times:\n%s", n+1, times, strings.Join(landed, "\n"))
		}
	}
	k.wantKilled()
}

// checkClosed checks that each issue has one task and one comment of Coppice, and that it is
// closed.
func (w *world) checkClosed(of issueSource, issues []any, tasks map[string][]string) {
	w.t.Helper()
	if len(tasks) != len(issues) {
		w.t.Errorf("%d issues have tasks, want %d: %v", len(tasks), len(issues), tasks)
	}
	for _, id := range issues {
		made, seen := tasks[fmt.Sprint(id)], of.read(id)
		own := slices.DeleteFunc(slices.Clone(seen.comments), func(c string) bool { return !strings.HasPrefix(c, "Coppice made") })
		if len(made) != 1 || !seen.done || len(own) != 1 || !strings.Contains(own[0], made[0]) || !strings.Contains(own[0], "is done") {
			w.t.Errorf("%v has the tasks %v, and is %+v", id, made, seen)
		}
	}
}

// mostActive returns how many tasks of issues were open at the same time, as the log has
// it.
func (w *world) mostActive() int {
	w.t.Helper()
	ofIssue := map[string]bool{}
	for _, keys := range w.issueTasks() {
		for _, key := range keys {
			ofIssue[key] = true
		}
	}
	open, most := map[string]bool{}, 0
	for q := (client.EventQuery{Limit: 1000}); ; {
		page, err := w.client.Events(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range page.Events {
			switch {
			case !ofIssue[e.Subject]:
			case e.Kind == coppice.EventTaskCreated:
				open[e.Subject] = true
			case e.Kind == coppice.EventTaskEnded:
				delete(open, e.Subject)
			}
			most = max(most, len(open))
		}
		if q.After = page.Next; !page.More {
			return most
		}
	}
}

// wantKilled checks that the server was killed as often as planned.
func (k *issueKiller) wantKilled() {
	k.w.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kills > 0 {
		k.w.t.Errorf("the server was killed %d times less than planned", k.kills)
	}
}
