package checkout

import (
	"context"
	"maps"
	"slices"

	"coppice"
	"coppice/features"
	"coppice/store"
)

// reload reads the projects and their policies.
func (s *Follower) reload(ctx context.Context) error {
	var list []coppice.Project
	first := map[int64]waiting{}
	err := s.store.View(ctx, func(r store.Reader) (err error) {
		if list, err = r.Projects.All(); err != nil {
			return err
		}
		for _, p := range list {
			if first[p.ID], err = waitsFor(r, p.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(p coppice.Project) bool { return p.Removal != nil })
	here := map[int64]bool{}
	for _, project := range list {
		here[project.ID] = true
	}
	// A project that is being removed is not followed. Its remaining watches do
	// not matter.
	maps.DeleteFunc(s.projects, func(id int64, _ *featureProject) bool { return !here[id] })
	maps.DeleteFunc(s.policies, func(id int64, _ *policyProject) bool { return !here[id] })
	s.mu.Lock()
	maps.DeleteFunc(s.lists, func(id int64, _ *features.List) bool { return !here[id] })
	s.mu.Unlock()
	for _, project := range list {
		s.waits.follow(project, first[project.ID])
		s.followPolicy(ctx, project)
		p := s.projects[project.ID]
		switch {
		case project.Policy.Features == "":
			if p != nil {
				delete(s.projects, project.ID) // its remaining watches do not matter
				s.warn(ctx, project, fromFeatures, nil)
			}
			continue
		case p == nil || p.file.Name != project.Policy.Features || p.file.Root != project.Path:
			if p, err = s.open(ctx, project); err != nil {
				return err
			}
			s.projects[project.ID] = p
			s.watch(p)
			s.readFeatures(ctx, p, false)
		case p.project.Prefix != project.Prefix || string(coppice.Raw(p.project.Policy)) != string(coppice.Raw(project.Policy)):
			p.project, p.refused = project, nil
			s.turn(ctx, p)
		}
	}
	return nil
}

// followPolicy takes the current state of a project. The first time it also
// reads the project's policy, which might have been edited while no server ran.
func (s *Follower) followPolicy(ctx context.Context, project coppice.Project) {
	p := s.policies[project.ID]
	if p == nil {
		p = &policyProject{project: project, due: s.clock.Now(), seq: s.start}
		s.policies[project.ID] = p
	}
	if p.project.Path != project.Path || !samePolicy(p.project.Policy, project.Policy) {
		p.problem = "" // a person has confirmed the policy
		p.due = s.clock.Now()
	}
	p.project = project
	s.warnPolicy(ctx, p)
}

// open starts to follow a project.
func (s *Follower) open(ctx context.Context, project coppice.Project) (*featureProject, error) {
	p := &featureProject{
		project: project, file: features.File{Root: project.Path, Name: project.Policy.Features},
		tasks: map[string]coppice.Task{}, roles: map[string]coppice.Role{}, seq: s.start,
	}
	return p, s.store.View(ctx, func(r store.Reader) (err error) {
		if p.seen, err = remembered(r, project.ID); err != nil {
			return err
		}
		tasks, err := r.Tasks.List(store.TaskFilter{ProjectID: project.ID, OldFirst: true})
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if _, err := s.learn(r, p, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// learn takes the state of a task, and reports whether that changes the status
// of its feature.
func (s *Follower) learn(r store.Reader, p *featureProject, t coppice.Task) (bool, error) {
	old, had := p.tasks[t.Feature]
	if t.Feature == "" || had && old.ID > t.ID {
		return false, nil
	}
	if t.Ended() {
		asks, err := r.Asks.Open(coppice.TaskSubject(t.ID))
		if err != nil {
			return false, err
		}
		if coppice.Asked(asks, coppice.VerbRetry, coppice.VerbRequeue, coppice.VerbContinue) != nil {
			t = features.Restarted(t)
		}
	}
	role := coppice.Role("")
	if t.Stage == coppice.StageSession {
		last, err := r.Sessions.Last(t.ID)
		if err != nil {
			return false, err
		}
		if last != nil {
			role = last.Role
		}
	}
	if t.Failure != nil {
		f := *t.Failure
		f.Text = s.redact(f.Text)
		t.Failure = &f
	}
	before := features.Derive(t.Feature, old, p.roles[t.Feature])
	p.tasks[t.Feature], p.roles[t.Feature] = t, role
	return !had || before != features.Derive(t.Feature, t, role), nil
}
