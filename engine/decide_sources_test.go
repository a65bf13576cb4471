package engine

import (
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// Two sources read the same place. An issue that matches both has one task, and issues of
// one source can block, or be parts of, those of the other one.
func TestSourcesOfOnePlace(t *testing.T) {
	t.Parallel()
	b, s := openSite(t)
	p := b.projectNow()
	features := coppice.TrackerPolicy{Name: "features", Kind: "gitea", Import: coppice.TrackerImport{Labels: []string{"feature"}}, Active: 1}
	p.Policy.Trackers = append(p.Policy.Trackers, features)
	b.update(func(tx store.Tx) error { return tx.Projects.Put(&p) })
	b.policyChanged()
	s.add("1", "agent", "feature")
	s.add("2", "agent").Children = []string{"3"}
	s.add("3", "feature").Parent = "2"
	s.add("4", "feature").BlockedBy = []string{"2"}
	for range 3 {
		s.sync()
	}
	got := s.tasks()   // fails if an issue has two
	if len(got) != 3 { // 4 waits for 3, because the source has one active task
		t.Fatalf("the tasks: %v", got)
	}
	if part := s.task("3"); part.Parent != s.task("2").ID {
		t.Errorf("the sub-issue: %+v", part)
	}
	passes := len(s.reads)
	s.sync()
	for _, r := range s.reads[passes:] {
		if len(r.Named) > 0 {
			t.Errorf("a pass reads %v again", r.Named)
		}
	}
	b.done(got["3"])
	s.sync()
	if four := s.task("4"); !slices.Equal(four.After, []int64{s.task("2").ID}) {
		t.Errorf("the blocked issue: %+v", four)
	}
	again, err := b.ImportIssues(t.Context(), "app", "features", []string{"2"}, coppice.NewTask{})
	b.must(err)
	if len(again) != 1 || again[0].Key != got["2"] {
		t.Errorf("the import by the other source: %+v", again)
	}
	s.add("5", "feature").BlockedBy = []string{"99"}
	s.sync() // it waits in one source, and a person imports it by the other one
	_, err = b.ImportIssues(t.Context(), "app", "gitea", []string{"5"}, coppice.NewTask{})
	b.must(err)
	for _, id := range []string{"2", "4"} {
		b.done(s.task(id).Key)
		s.sync()
	}
	s.issues["5"].BlockedBy = nil
	s.touch("5")
	for range 2 {
		b.clock = b.clock.Add(time.Hour)
		s.sync()
	}
	if got := s.tasks(); got["5"] == "" {
		t.Errorf("the tasks: %v", got)
	}
}

// An issue is a sub-task of the one that lists it, also if it does not name its parent and
// has the label itself. A person can import it, too.
func TestSubIssuesOfATaskList(t *testing.T) {
	t.Parallel()
	b, s := openSite(t)
	s.add("1", "agent").Children = []string{"2", "3", "4"}
	s.add("2")
	s.add("3", "agent")
	s.add("4").BlockedBy = []string{"99"}
	s.sync()
	s.sync()
	_, err := b.ImportIssues(t.Context(), "app", "", []string{"4"}, coppice.NewTask{})
	b.must(err)
	parent := s.task("1").ID
	for _, part := range []string{"2", "3", "4"} {
		if got := s.task(part); got.Parent != parent {
			t.Errorf("the task of %s is below %d, want %d", part, got.Parent, parent)
		}
	}
	if s.task("1").Parent != 0 || len(s.tasks()) != 4 {
		t.Errorf("the tasks: %v, the first is below %d", s.tasks(), s.task("1").Parent)
	}
}
