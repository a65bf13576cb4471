package checkout

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/config"
	"coppice/features"
	"coppice/store"
)

// do makes the loop run a function between two events, and waits for it.
func (s *Follower) do(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case s.asks <- func() { defer close(done); f() }:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// project reads the current state of a project.
func (s *Follower) project(ctx context.Context, id int64) (p coppice.Project, err error) {
	err = s.store.View(ctx, func(r store.Reader) error {
		p, err = r.Projects.Get(id)
		return err
	})
	return p, err
}

// position returns the number of the newest event.
func (s *Follower) position(ctx context.Context) (seq int64, err error) {
	err = s.store.View(ctx, func(r store.Reader) error {
		_, seq, err = r.Log.Bounds()
		return err
	})
	return seq, err
}

// before returns the number of the newest event, or older if that cannot be
// read.
func (s *Follower) before(ctx context.Context, older int64) int64 {
	seq, err := s.position(ctx)
	if err != nil {
		return older
	}
	return seq
}

// ran reports whether a session of a project was live at some time since an
// event: one still is, or has ended. If it cannot tell, it reports true.
func (s *Follower) ran(ctx context.Context, project, since int64) (yes bool) {
	err := s.store.View(ctx, func(r store.Reader) error {
		live, err := r.Sessions.Live()
		if err != nil {
			return err
		}
		for _, x := range live {
			yes = yes || x.ProjectID == project
		}
		first, last, err := r.Log.Bounds()
		if yes = yes || first > since+1 && last > since; yes || err != nil {
			return err
		}
		events, err := r.Log.Events(since, 1, store.EventFilter{ProjectID: project, Kinds: []coppice.EventKind{coppice.EventSessionEnded}})
		yes = len(events) > 0
		return err
	})
	return yes || err != nil
}

// checkAfterSession reads a project's files when a session has ended. If they have not
// changed, that session did not change them.
func (s *Follower) checkAfterSession(ctx context.Context, project int64) {
	if p := s.policies[project]; p != nil && p.due.IsZero() {
		if now, err := s.position(ctx); err == nil && policyPrint(p.project.Path) == p.print {
			p.seq = now
		}
	}
	if p := s.projects[project]; p != nil {
		s.readFeatures(ctx, p, false)
	}
}

// policyPrint is a fingerprint of the files that make a project's policy.
func policyPrint(root string) string {
	h := sha256.New()
	for _, name := range config.Files(root) {
		f, err := os.Open(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			fmt.Fprintf(h, "%s: none\n", name)
			continue
		}
		part := sha256.New()
		_, err = io.Copy(part, io.LimitReader(f, 4<<20))
		_ = f.Close() // only read
		fmt.Fprintf(h, "%s: %x %v\n", name, part.Sum(nil), err == nil)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// need adds a need to a project.
func (s *Follower) need(ctx context.Context, p coppice.Project, n coppice.Need) {
	if old := p.Need(n.Kind); old == nil || old.Text != n.Text {
		s.log.Warn("a project needs a person", "project", p.Prefix, "kind", n.Kind, "text", n.Text)
	}
	if err := s.intake.Need(ctx, p.ID, n); err != nil && ctx.Err() == nil {
		s.log.Error("a need could not be stored", "project", p.Prefix, "error", err)
	}
}

// endNeed removes a need from a project.
func (s *Follower) endNeed(ctx context.Context, p coppice.Project, kind coppice.NeedKind, why string) {
	if p.Need(kind) == nil {
		return
	}
	if err := s.intake.EndNeed(ctx, p.ID, kind, why); err != nil && ctx.Err() == nil {
		s.log.Error("the end of a need could not be stored", "project", p.Prefix, "error", err)
	}
}

// policyNeed returns the need of a project whose files differ from the current
// policy.
func policyNeed(current, found coppice.Policy, parts []string, how string) coppice.Need {
	var differ []string
	var paths []string
	for _, part := range parts {
		if config.Diff(current, found, []string{part}) == "" {
			continue
		}
		differ = append(differ, part)
		path := config.PartPath(part)
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return coppice.Need{
		Kind: coppice.NeedPolicy, Paths: paths, Diff: config.Diff(current, found, parts),
		Text: fmt.Sprintf("%s changed %s: %s. The previous settings stay in effect until you confirm", strings.Join(paths, " and "), how, strings.Join(differ, ", ")),
		Fix:  "read the diff, then confirm it with `coppice project add` in the repository; or undo the change in the files",
	}
}

// judgeBase checks where a project's base is now.
func (s *Follower) judgeBase(ctx context.Context, p coppice.Project, now string) {
	if now == "" {
		return
	}
	n, err := s.spaces.BaseNeed(ctx, p.Path, p.Policy.Base, p.BaseCommit, now)
	switch {
	case err != nil:
		s.log.Warn("a base that moved cannot be checked", "project", p.Prefix, "error", err)
	case n != nil:
		s.need(ctx, p, *n)
	case now == p.BaseCommit:
		s.endNeed(ctx, p, coppice.NeedBase, "the base is back where it was")
	}
}

// baseMoved reads where the base of a project is, on which tasks wait because it fails
// their checks. If a person has moved it, the tasks land again.
func (s *Follower) baseMoved(ctx context.Context, project int64) error {
	p, err := s.project(ctx, project)
	if err != nil {
		return err
	}
	found, err := s.spaces.Inspect(ctx, p.Path, p.Policy.Base)
	if err != nil || found.BaseCommit == "" || found.BaseCommit == p.BaseCommit {
		return nil // the row of the policy says what is wrong with the repository
	}
	n, err := s.spaces.BaseNeed(ctx, p.Path, p.Policy.Base, p.BaseCommit, found.BaseCommit)
	if err != nil {
		return err
	}
	if n != nil {
		s.need(ctx, p, *n)
		return nil
	}
	return s.intake.BaseSeen(ctx, project, p.BaseCommit, found.BaseCommit)
}

// publishWaits publishes the statuses that wait for a person.
func (s *Follower) publishWaits(ctx context.Context, p *featureProject, waits []features.StatusChange) {
	text := statusDiff(waits)
	if p.known && text == p.waits {
		return
	}
	p.known, p.waits = true, text
	project, err := s.project(ctx, p.project.ID)
	if err != nil {
		p.known = false
		return
	}
	if text == "" {
		s.endNeed(ctx, project, coppice.NeedFeatures, "no status is waiting any more")
		return
	}
	what := fmt.Sprintf("%d statuses", len(waits))
	if len(waits) == 1 {
		what = "a status"
	}
	s.need(ctx, project, coppice.Need{
		Kind: coppice.NeedFeatures, Paths: []string{p.file.Name}, Diff: text,
		Text: fmt.Sprintf("%s in %s changed while a session of the project ran, and not by Coppice. They have no effect until you confirm", what, p.file.Name),
		Fix:  fmt.Sprintf("confirm it with `coppice project confirm %s --features`; or undo the change in the file", project.Prefix),
	})
}

// statusDiff lists statuses that changed. Its length is limited.
func statusDiff(waits []features.StatusChange) string {
	var b strings.Builder
	for i, c := range waits {
		if b.Len() > 16<<10 {
			fmt.Fprintf(&b, "… and %d more\n", len(waits)-i)
			break
		}
		to := string(c.To)
		if c.To == features.Gone {
			to = "removed"
		}
		fmt.Fprintf(&b, "feature %s: %s → %s\n", c.ID, c.From, to)
	}
	return b.String()
}
