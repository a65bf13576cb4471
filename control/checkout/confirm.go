package checkout

import (
	"context"

	"coppice"
	"coppice/api"
	"coppice/config"
	"coppice/store"
	"coppice/workspace"
)

// projectAt reads the project of a checkout.
func (s *Follower) projectAt(ctx context.Context, root string) (p coppice.Project, err error) {
	err = s.store.View(ctx, func(r store.Reader) error {
		p, err = r.Projects.ByPath(root)
		return err
	})
	return p, err
}

// Add adds the project of a directory, with a prefix unless that is empty. For a
// known one it confirms the current policy and git settings, and returns what
// changed.
func (s *Follower) Add(ctx context.Context, dir, prefix string) (coppice.Project, []coppice.Need, error) {
	root, err := s.spaces.Root(ctx, dir)
	if err != nil {
		return coppice.Project{}, nil, err
	}
	before, err := s.projectAt(ctx, root)
	known := err == nil
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
		return coppice.Project{}, nil, err
	}
	p, err := s.person.AddProjectAs(ctx, dir, prefix)
	if err != nil {
		return coppice.Project{}, nil, err
	}
	if err := s.spaces.Confirm(ctx, p.Path, p.Git); err != nil {
		return coppice.Project{}, nil, err
	}
	if !known {
		return p, nil, nil
	}
	// Later edits are judged by the sessions that run from now on.
	if err := s.rereadPolicy(ctx, p.ID); err != nil {
		return coppice.Project{}, nil, err
	}
	var confirmed []coppice.Need
	if diff := config.Diff(before.Policy, p.Policy, config.Parts()); diff != "" {
		confirmed = append(confirmed, coppice.Need{Kind: coppice.NeedPolicy, Text: "the policy", Diff: diff, Since: s.clock.Now().UTC()})
	}
	if diff := workspace.SettingsDiff(before.Git, p.Git); diff != "" && before.Git != nil {
		confirmed = append(confirmed, coppice.Need{Kind: coppice.NeedGit, Text: "git settings", Diff: diff, Since: s.clock.Now().UTC()})
	}
	return p, confirmed, nil
}

// AdoptGit confirms the git settings of projects that an older version added,
// and applies those that were confirmed before.
func (s *Follower) AdoptGit(ctx context.Context) error {
	var list []coppice.Project
	err := s.store.View(ctx, func(r store.Reader) (err error) {
		list, err = r.Projects.All()
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.Git == nil {
			if p.Git, err = s.spaces.Settings(ctx, p.Path); err == nil {
				err = s.person.AdoptGit(ctx, p.ID, p.Git)
			}
		}
		if err == nil {
			err = s.spaces.Confirm(ctx, p.Path, p.Git)
		}
		if err != nil { // the repository might be missing; the others are not
			s.log.Warn("the git settings of a project cannot be read", "project", p.Prefix, "error", err)
		}
	}
	return ctx.Err()
}

func nothingWaits(p coppice.Project, kind coppice.NeedKind) error {
	return coppice.Errorf(coppice.ENotFound, "%s has nothing of this kind to confirm (%s)", p.Prefix, kind).WithFix("see `coppice status`")
}

func changedAgain(p coppice.Project) error {
	return coppice.Errorf(coppice.EConflict, "what waits for you in %s has changed since you saw it", p.Prefix).WithFix("read it again, then confirm it")
}

// Confirm applies a change that waits for a person, if it is the one that they
// saw.
func (s *Follower) Confirm(ctx context.Context, p coppice.Project, c api.Confirmation) error {
	n := p.Need(c.Kind)
	switch {
	case n == nil:
		return nothingWaits(p, c.Kind)
	case c.Diff != "" && c.Diff != n.Diff:
		return changedAgain(p)
	}
	switch c.Kind {
	case coppice.NeedPolicy:
		return s.confirmPolicy(ctx, p, *n)
	case coppice.NeedGit:
		return s.confirmGit(ctx, p, *n)
	case coppice.NeedFeatures:
		return s.confirmFeatures(ctx, p, *n)
	case coppice.NeedBase:
		if err := s.spaces.KeepBase(ctx, p.Path, p.Policy.Base, n.From, n.To); err != nil {
			return err
		}
		_, err := s.person.BaseAt(ctx, p.Path, n.To)
		return err
	}
	return coppice.Errorf(coppice.EInvalid, "%s cannot be confirmed", c.Kind).WithFix("%s", n.Fix).WithField("kind")
}

func (s *Follower) confirmPolicy(ctx context.Context, p coppice.Project, n coppice.Need) error {
	found, err := reinspect(ctx, s.spaces, p)
	if err != nil {
		return err
	}
	// The need shows the parts that wait. All other parts are in effect, unless
	// the files changed since.
	if config.Diff(p.Policy, found.Policy, config.Parts()) != n.Diff {
		if err := s.rereadPolicy(ctx, p.ID); err != nil {
			return err
		}
		now, err := s.projectAt(ctx, p.Path)
		if err != nil {
			return err
		}
		if again := now.Need(coppice.NeedPolicy); again == nil || again.Diff != n.Diff {
			return changedAgain(p)
		}
	}
	if _, err = s.person.ConfirmPolicy(ctx, found); err != nil {
		return err
	}
	return s.rereadPolicy(ctx, p.ID)
}

// rereadPolicy reads the policy of a project immediately.
func (s *Follower) rereadPolicy(ctx context.Context, project int64) error {
	return s.do(ctx, func() {
		if p := s.policies[project]; p != nil {
			s.reread(ctx, p)
		}
	})
}

func (s *Follower) confirmGit(ctx context.Context, p coppice.Project, n coppice.Need) error {
	now, err := s.spaces.Settings(ctx, p.Path)
	if err != nil {
		return err
	}
	if diff := workspace.SettingsDiff(p.Git, now); diff != n.Diff {
		n.Diff = diff
		if err := s.person.Need(ctx, p.ID, n); err != nil {
			return err
		}
		return changedAgain(p)
	}
	// Git must use the settings before the store says that they are confirmed.
	if err := s.spaces.Confirm(ctx, p.Path, now); err != nil {
		return err
	}
	_, err = s.person.ConfirmGit(ctx, p.Path, now)
	return err
}

func (s *Follower) confirmFeatures(ctx context.Context, p coppice.Project, n coppice.Need) error {
	same := false
	err := s.do(ctx, func() {
		f := s.projects[p.ID]
		if f == nil {
			return
		}
		s.readFeatures(ctx, f, false)
		if same = f.waits == n.Diff; same {
			f.accept = true
			s.turn(ctx, f)
		}
	})
	if err == nil && !same {
		err = changedAgain(p)
	}
	return err
}

// RestoreBase moves back a base that moved without Coppice.
func (s *Follower) RestoreBase(ctx context.Context, p coppice.Project) error {
	n := p.Need(coppice.NeedBase)
	if n == nil {
		return nothingWaits(p, coppice.NeedBase)
	}
	now, err := s.spaces.RestoreBase(ctx, p.Path, p.Policy.Base, n.From, n.To)
	if err != nil {
		if now != "" && now != n.From && now != n.To {
			s.judgeBase(ctx, p, now) // so that the person sees its position
		}
		return err
	}
	_, err = s.person.BaseAt(ctx, p.Path, now)
	return err
}
