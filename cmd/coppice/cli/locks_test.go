package cli_test

import (
	"errors"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func TestLocksGolden(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	s.golden(t, "locks-none", "locks")
	now := s.Clock.Now()
	one := s.Session("app-1", coppice.SessionWorking, nil)
	two := s.Session("app-2", coppice.SessionWaiting, func(x *coppice.Session) { x.ParkedAt = now })
	s.Update(func(tx store.Tx) error {
		lock := func(of coppice.Session, name, reason string) error {
			return tx.Locks.Put(coppice.Lock{ProjectID: of.ProjectID, SessionID: of.ID, Name: name, Reason: reason, TTL: coppice.Duration(coppice.LockTTL), AcquiredAt: now, ExpiresAt: now.Add(coppice.LockTTL)})
		}
		wait := func(of coppice.Session, outcome coppice.LockOutcome, names ...string) error {
			q := coppice.LockRequest{ProjectID: of.ProjectID, SessionID: of.ID, Names: names, TTL: coppice.Duration(coppice.LockTTL), Since: now, Until: now.Add(coppice.LockCycleKept), Outcome: outcome}
			if outcome == coppice.LockDeadlock {
				q.Cycle, q.Hint = []string{two.Key, one.Key}, two.Key+" should release docs/**/*.md"
			}
			return tx.Locks.PutRequest(&q)
		}
		return errors.Join(lock(one, "src/main.go", "a refactoring"), lock(one, "checkout::lib", ""), lock(two, "docs/**/*.md", ""),
			wait(one, "", "docs/a.md", "docs/b.md"), wait(two, coppice.LockDeadlock, "src/main.go"))
	})
	s.Clock.Move(30 * time.Second)
	s.golden(t, "locks", "locks")
	s.golden(t, "locks-json", "locks", "--json")
	s.golden(t, "locks-release", "locks", "release", "lib/")
	s.golden(t, "locks-release-none", "locks", "release", "lib/")
	s.golden(t, "locks-release-session", "locks", "release", "--session", two.Key)
	s.golden(t, "locks-release-both", "locks", "release", "x", "--session", two.Key)
	s.golden(t, "locks-after", "locks", "--project", "app")
}
