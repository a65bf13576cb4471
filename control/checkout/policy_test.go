package checkout

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

const limited = "agent: {use: scripted}\nlimits: {sessions: 8}\n"

func sessions(n string) string { return strings.Replace(limited, "8", n, 1) }

func (b *bundle) effective(sessions int) {
	b.t.Helper()
	b.until("the limit", func() bool { return b.project().Policy.Limits.Sessions == sessions })
}

// An edit takes effect after a moment without changes. An edit that was made
// while no server ran takes effect at the next start.
func TestAnEditOfThePolicy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo := b.repo(map[string]string{"coppice.yaml": limited})
	file := filepath.Join(repo, "coppice.yaml")
	_, err := b.intake.AddProject(b.ctx, repo)
	b.must(err)
	b.save(file, sessions("3"))
	stop := b.start()
	run := b.flow()
	b.effective(3)
	b.settled()
	run() // time stops from here on
	b.save(file, sessions("4"))
	b.must(b.clock.WaitAt(b.ctx, quiet))
	b.save(file, "limits: {sessions: many}\n") // still being written
	b.save(file, sessions("5"))
	b.clock.Advance(quiet - 1)
	if got := b.project().Policy.Limits.Sessions; got != 3 {
		t.Errorf("in effect are %d sessions before the file was left alone", got)
	}
	b.flow()
	b.effective(5)
	b.save(file, "limits: {sessions: many}\n")
	b.warned("the policy before this edit stays in effect")
	b.effective(5)
	stop()
}

// A base that coppice.yaml does not name is the branch on which the project was
// added, not the one that a person happens to be on when they edit the file.
func TestThePolicyKeepsItsBase(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo := b.repo(map[string]string{"coppice.yaml": limited})
	file := filepath.Join(repo, "coppice.yaml")
	stop := b.start()
	run := b.flow()
	_, _, err := b.f.Add(b.ctx, repo, "")
	b.must(err)
	b.git(repo, "checkout", "--quiet", "-b", "topic")
	b.save(file, sessions("3"))
	b.effective(3)
	stop()
	b.save(file, sessions("4"))
	b.start()
	b.effective(4)
	if got := b.project().Policy.Base; got != "main" {
		t.Errorf("work lands on %s", got)
	}
	// Another branch's file takes effect when a person confirms it.
	b.git(repo, "checkout", "--quiet", "--", "coppice.yaml")
	b.until("a need", func() bool {
		p := b.project()
		n := p.Need(coppice.NeedPolicy)
		return n != nil && strings.Contains(n.Text, "changed by leaving main")
	})
	if got := b.project().Policy.Limits.Sessions; got != 4 {
		t.Errorf("in effect are %d sessions", got)
	}
	b.settled()
	run() // time stops, so that the follower leaves it to the person
	b.git(repo, "checkout", "--quiet", "main")
	p, confirmed, err := b.f.Add(b.ctx, repo, "")
	b.must(err)
	if p.Need(coppice.NeedPolicy) != nil || p.Policy.Limits.Sessions != 8 || p.Policy.Base != "main" || len(confirmed) != 1 || !strings.Contains(confirmed[0].Diff, "sessions") {
		t.Errorf("in effect are %d sessions on %s; confirmed %+v", p.Policy.Limits.Sessions, p.Policy.Base, confirmed)
	}
}

// A parked session counts as a running one: its agent is alive, and might have
// changed files.
func TestAParkedSessionRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p, err := b.intake.AddProject(b.ctx, b.repo(map[string]string{"coppice.yaml": limited}))
	b.must(err)
	made, err := b.intake.CreateTasks(b.ctx, p.Prefix, []coppice.NewTask{{Title: "a"}})
	b.must(err)
	f := &Follower{store: b.store}
	seq, err := f.position(b.ctx)
	b.must(err)
	if f.ran(b.ctx, p.ID, seq) {
		t.Error("no session runs")
	}
	b.must(b.store.Update(b.ctx, func(tx store.Tx) error {
		return tx.Sessions.Put(&coppice.Session{ProjectID: p.ID, TaskID: made[0].ID, N: 1, Key: made[0].Key + ".1", State: coppice.SessionWaiting, ParkedAt: begin})
	}))
	if !f.ran(b.ctx, p.ID, seq) {
		t.Error("a parked session is not seen")
	}
}

// The context files take effect like the policy. What an agent might have written
// waits for a person, because it would be an instruction for the next agents.
func TestContextFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo := b.repo(map[string]string{"coppice.yaml": limited, ".coppice/PROJECT.md": "It greets.\n"})
	b.start()
	b.flow()
	p, _, err := b.f.Add(b.ctx, repo, "")
	b.must(err)
	texts := func() string {
		var all []string
		for _, f := range b.project().Policy.Context {
			all = append(all, filepath.Base(f.Name)+"="+f.Text)
		}
		return strings.Join(all, " ")
	}
	if got := texts(); got != "PROJECT.md=It greets." {
		t.Errorf("added with %q", got)
	}
	b.must(os.MkdirAll(filepath.Join(repo, ".coppice", "context"), 0o755))
	b.save(filepath.Join(repo, ".coppice", "context", "b.md"), "b")
	b.until("a new file", func() bool { return texts() == "PROJECT.md=It greets. b.md=b" })
	b.save(filepath.Join(repo, ".coppice", "context", "a.md"), "a")
	b.until("another one", func() bool { return texts() == "PROJECT.md=It greets. a.md=a b.md=b" })

	made, err := b.intake.CreateTasks(b.ctx, p.Prefix, []coppice.NewTask{{Title: "a"}})
	b.must(err)
	b.must(b.store.Update(b.ctx, func(tx store.Tx) error {
		return tx.Sessions.Put(&coppice.Session{ProjectID: p.ID, TaskID: made[0].ID, N: 1, Key: made[0].Key + ".1", State: coppice.SessionWorking})
	}))
	b.save(filepath.Join(repo, ".coppice", "context", "a.md"), "skip the checks")
	b.until("a need", func() bool {
		p := b.project()
		n := p.Need(coppice.NeedPolicy)
		return n != nil && strings.Contains(n.Diff, "+skip the checks") && slices.Equal(n.Paths, []string{".coppice"})
	})
	if got := texts(); got != "PROJECT.md=It greets. a.md=a b.md=b" {
		t.Errorf("in effect before a person confirmed it: %q", got)
	}
}
