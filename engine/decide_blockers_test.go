package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// oneSession lets one session of the project run at a time.
func (b *bundle) oneSession() {
	p := b.projectNow()
	p.Policy.Limits.Sessions = 1
	b.update(func(tx store.Tx) error { return tx.Projects.Put(&p) })
	b.policyChanged()
}

// A blocker that is added after the import makes the task of the issue wait, until that
// task has started.
func TestABlockerIsAdded(t *testing.T) {
	t.Parallel()
	b, s := openSite(t)
	b.oneSession()
	first, second, third := s.add("1", "agent"), s.add("2", "agent"), s.add("3", "agent")
	s.sync() // 1 starts, 2 and 3 wait for a session
	block := func(i *coppice.IssueRead, by ...string) {
		t.Helper()
		i.BlockedBy = by
		b.clock = b.clock.Add(1)
		s.touch(i.ID)
		s.sync()
	}
	id := func(issue string) int64 { return s.task(issue).ID }
	after := func(issue string, want ...int64) {
		t.Helper()
		if got := s.task(issue).After; !slices.Equal(got, want) {
			t.Errorf("the task of %s comes after %v, want %v", issue, got, want)
		}
	}
	why := func(issue string, parts ...string) {
		t.Helper()
		got := s.row(issue).Refused
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s says %q, want %q", issue, got, part)
			}
		}
		if len(parts) == 0 && got != "" {
			t.Errorf("%s says %q", issue, got)
		}
	}
	block(third, "2", "99") // 99 has no task
	after("3", id("2"))
	if got := s.task("3"); got.Stage != coppice.StageWaiting {
		t.Errorf("the task of 3 is %s", got.Stage)
	}
	block(second, "3")
	after("2")
	why("2", "does not wait for #3", "cycle", s.task("2").Key, s.task("3").Key)
	block(second)
	why("2")
	block(second, "1")
	after("2", id("1"))
	why("2")
	if _, err := b.ChangeTask(t.Context(), s.task("2").Key, coppice.TaskChange{After: &[]string{}}); err != nil {
		t.Fatal(err)
	}
	second.Title = "Another title"
	block(second, "1") // the person has removed the dependency: nothing new blocks it
	after("2")
	s.settle()
	b.finish(s.task("1").Key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
	block(first, "3") // its task has started
	after("1")
	why("1")
}

// Two issues of one pass block each other, after both were imported.
func TestBlockersInACircle(t *testing.T) {
	t.Parallel()
	b, s := openSite(t)
	b.oneSession()
	s.add("1", "agent")
	two, three := s.add("2", "agent"), s.add("3", "agent")
	s.sync()
	two.BlockedBy, three.BlockedBy = []string{"3"}, []string{"2"}
	b.clock = b.clock.Add(1)
	s.touch("2")
	s.touch("3")
	s.sync()
	if a, c := s.task("2").After, s.task("3").After; len(a)+len(c) != 1 {
		t.Errorf("the tasks come after %v and %v", a, c)
	}
}

// A message about a new comment is delivered immediately, although nothing else happens to
// the task.
func TestACommentReachesALiveAgent(t *testing.T) {
	t.Parallel()
	b, s := openSite(t)
	i := s.add("1", "agent")
	s.sync()
	b.runs(s.task("1").Key)
	s.settle()
	b.clock = b.clock.Add(time.Second)
	i.Comments = []coppice.IssueComment{{ID: "7", Author: "ada", Writes: true, Text: "Use tabs."}}
	s.touch("1")
	s.sync()
	sends := read(b, func(r store.Reader) ([]coppice.Work, error) { return r.Work.Open(coppice.WorkSend) })
	if len(sends) != 1 || !strings.Contains(string(sends[0].Spec), "Use tabs.") {
		t.Errorf("deliveries: %+v", sends)
	}
}
