package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
)

// remove is a person who removes the project p while everything runs. Its rows
// are then deleted step by step.
func (s *sim) remove() error {
	if !s.opt.Remove || s.gone || s.steps < s.opt.Steps/2 {
		return nil
	}
	p, err := s.intake.RemoveProject(s.ctx, "p", coppice.Remove{Force: true})
	if err != nil {
		return err
	}
	s.removing = true
	for before := int64(0); ; {
		if before, err = s.intake.StopOpen(s.ctx, p.ID, before, 2); err != nil || before == 0 {
			break
		}
	}
	if err != nil {
		return err
	}
	more, err := s.intake.Forget(s.ctx, p, 3)
	if err != nil || more {
		return err
	}
	s.gone = true
	ours := func(key string) bool { return strings.HasPrefix(key, "p-") }
	s.keys = slices.DeleteFunc(s.keys, ours)
	s.projects = slices.DeleteFunc(s.projects, func(q coppice.Project) bool { return q.ID == p.ID })
	for key := range s.requeued {
		if ours(key) {
			delete(s.requeued, key)
		}
	}
	for key := range s.world.spaces { // as with purge
		if ours(key) {
			delete(s.world.spaces, key)
		}
	}
	for _, key := range s.running() {
		if ours(key) {
			return fmt.Errorf("the host of %s runs, its project is gone", key)
		}
	}
	return s.st.View(s.ctx, func(r store.Reader) error {
		if _, err := r.Projects.ByPrefix("p"); coppice.ErrorCode(err) != coppice.ENotFound {
			return fmt.Errorf("the project is still there: %w", err)
		}
		left, err := r.Tasks.Count(store.TaskFilter{ProjectID: p.ID})
		if err == nil && left > 0 {
			err = fmt.Errorf("%d of its tasks are still there", left)
		}
		return err
	})
}

// removeAll removes the project to its end, once nobody breaks anything any more.
func (s *sim) removeAll() error {
	if !s.opt.Remove {
		return nil
	}
	s.calm, s.fault.chance = true, 0
	for n := 0; !s.gone; n++ {
		if n == 2000 {
			return errors.New("the project is never gone")
		}
		s.now = s.now.Add(1e9)
		if err := errors.Join(s.round(), s.help()); err != nil {
			return err
		}
		err := s.remove()
		if coppice.ErrorCode(err) == coppice.EConflict && strings.Contains(err.Error(), "come after") {
			for _, key := range s.keys { // a person does what the refusal says
				if strings.HasPrefix(key, "p2-") {
					_ = s.stop(key)
				}
			}
		} else if err != nil && !refused(err) {
			return err
		}
	}
	return nil
}
