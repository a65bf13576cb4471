// Package storetest has the conformance suite of the store contract: the tests
// that every implementation must pass.
package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"coppice"
	"coppice/store"
)

// Open returns a new, empty store that is closed when the test ends.
type Open func(t *testing.T) store.Store

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"NotFound", testNotFound},
		{"None", testNone},
		{"RoundTrips", testRoundTrips},
		{"Projects", testProjects},
		{"TaskFilter", testTaskFilter},
		{"Dependants", testDependants},
		{"Family", testFamily},
		{"Copies", testCopies},
		{"Lanes", testLanes},
		{"Running", testRunning},
		{"MemoryUsed", testMemoryUsed},
		{"SessionCursor", testSessionCursor},
		{"Output", testOutput},
		{"OutputBefore", testOutputBefore},
		{"Pending", testPending},
		{"Lists", testLists},
		{"Each", testEach},
		{"Usage", testUsage},
		{"Spend", testSpend},
		{"SpendSums", testSpendSums},
		{"Picture", testPicture},
		{"Topics", testTopics},
		{"Locks", testLocks},
		{"Notices", testNotices},
		{"Notifications", testNotifications},
		{"Watch", testWatch},
		{"Workspaces", testWorkspaces},
		{"Landings", testLandings},
		{"RedLandings", testRed},
		{"Candidates", testCandidates},
		{"Checks", testChecks},
		{"Work", testWork},
		{"TrimWork", testTrimWork},
		{"ChecksTakeTurns", testChecksTakeTurns},
		{"Talk", testTalk},
		{"Review", testReview},
		{"AgentLimits", testAgentLimits},
		{"Trash", testTrash},
		{"Forget", testForget},
		{"KeepByAge", testKeepByAge},
		{"KeepBySize", testKeepBySize},
		{"KeepWhatIsNeeded", testKeepWhatIsNeeded},
		{"EndedCounts", testEndedCounts},
		{"Features", testFeatures},
		{"Snoozes", testSnoozes},
		{"Images", testImages},
		{"Branches", testBranches},
		{"Groups", testGroups},
		{"Notes", testNotes},
		{"NoteLists", testNoteLists},
		{"ForgetNotes", testForgetNotes},
		{"Documents", testDocuments},
		{"DocumentVersions", testDocumentVersions},
		{"ForgetDocuments", testForgetDocuments},
		{"ForgetQueue", testForgetQueue},
		{"Flows", testFlows},
		{"KeepSteps", testKeepSteps},
		{"Schedules", testSchedules},
		{"Pulls", testPulls},
		{"Reactions", testReactions},
		{"Issues", testIssues},
		{"ForgetIssues", testForgetIssues},
		{"ForgetSchedules", testForgetSchedules},
		{"TemplateStats", testTemplateStats},
		{"Labels", testLabels},
		{"Unread", testUnread},
		{"Timers", testTimers},
		{"Events", testEvents},
		{"TrimEvents", testTrimEvents},
		{"WaitEvent", testWaitEvent},
		{"Facts", testFacts},
		{"ReadsItsWrites", testReadsItsWrites},
		{"Rollback", testRollback},
		{"Grouped", testGrouped},
		{"Panic", testPanic},
		{"Cancelled", testCancelled},
		{"Writers", testWriters},
		{"Snapshot", testSnapshot},
		{"Closed", testClosed},
		{"Backup", testBackup},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open)
		})
	}
}

// start is the time of the first facts of a test.
var start = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// patience bounds waits for what should happen immediately. Only a hang reaches it.
const patience = 30 * time.Second

func diff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

func same[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if d := diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func update(t *testing.T, s store.Store, f func(store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, s store.Store, f func(store.Reader) error) {
	t.Helper()
	if err := s.View(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// get reads one thing in a View.
func get[T any](t *testing.T, s store.Store, f func(store.Reader) (T, error)) T {
	t.Helper()
	var v T
	view(t, s, func(r store.Reader) (err error) {
		v, err = f(r)
		return err
	})
	return v
}

func wantCode(t *testing.T, what string, err error, code coppice.Code) {
	t.Helper()
	if coppice.ErrorCode(err) != code {
		t.Errorf("%s: got %v, want code %s", what, err, code)
	}
}

// within returns a context that ends a hanging test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// policy returns a policy whose values do not change when they are stored as text.
func policy() coppice.Policy {
	p := coppice.DefaultPolicy()
	p.Base = "main"
	p.Agent = coppice.AgentChoice{Use: "scripted", Fallback: []string{"command"}}
	return p
}

// project adds a project.
func project(t *testing.T, s store.Store, prefix string) coppice.Project {
	t.Helper()
	p := coppice.Project{Prefix: prefix, Path: "/src/" + prefix, Policy: policy(), CreatedAt: start}
	update(t, s, func(tx store.Tx) error { return tx.Projects.Put(&p) })
	return p
}

// task adds a task; change can be nil.
func task(t *testing.T, s store.Store, p coppice.Project, num int, change func(*coppice.Task)) coppice.Task {
	t.Helper()
	k := coppice.Task{
		ProjectID: p.ID, Num: num, Key: fmt.Sprintf("%s-%d", p.Prefix, num), Title: fmt.Sprintf("Task %d", num),
		Track: "main", Agent: "scripted", Stage: coppice.StageWaiting, CreatedAt: start, StageAt: start,
	}
	if change != nil {
		change(&k)
	}
	update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(&k) })
	return k
}

// session adds a session of a task.
func session(t *testing.T, s store.Store, k coppice.Task, n int, change func(*coppice.Session)) coppice.Session {
	t.Helper()
	c := coppice.Session{
		ProjectID: k.ProjectID, TaskID: k.ID, N: n, Key: fmt.Sprintf("%s.%d", k.Key, n), Role: coppice.RoleImplement,
		Track: k.Track, Agent: k.Agent, State: coppice.SessionWorking, CreatedAt: start,
	}
	if change != nil {
		change(&c)
	}
	update(t, s, func(tx store.Tx) error { return tx.Sessions.Put(&c) })
	return c
}

func ids[T, K any](list []T, id func(T) K) []K {
	var all []K
	for _, v := range list {
		all = append(all, id(v))
	}
	return all
}
