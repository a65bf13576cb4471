package sim

import (
	"fmt"

	"coppice"
	"coppice/store"
)

// hijack is an agent that moves the base itself.
func (s *sim) hijack() error {
	r := s.world.repos[fmt.Sprintf("/repo/%d", s.rng.IntN(len(s.world.repos)))]
	s.made++
	tree := clone(s.world.tree(r.base))
	tree[fmt.Sprintf("f%d", s.rng.IntN(6))] = fmt.Sprintf("agent#%d", s.made)
	r.base = s.world.add(r.base, tree, "", fmt.Sprint("hijack ", s.made))
	r.history = append(r.history, r.base)
	s.world.suspect[r.base] = true
	return nil
}

// suspects reports whether a commit between two others is one that no person has
// agreed to.
func (w *world) suspects(from, to string) bool {
	for at := to; at != "" && at != from; at = w.commits[at].parent {
		if w.suspect[at] {
			return true
		}
	}
	return false
}

// decideBase is a person who looks at bases that moved: they keep one, or move
// it back.
func (s *sim) decideBase() error {
	for _, known := range s.projects {
		var p coppice.Project
		if err := s.st.View(s.ctx, func(r store.Reader) (err error) {
			p, err = r.Projects.Get(known.ID)
			return err
		}); err != nil {
			return err
		}
		n := p.Need(coppice.NeedBase)
		if n == nil {
			continue
		}
		if n.From != p.BaseCommit {
			return fmt.Errorf("%s can be moved back to %s, it was last seen at %s", p.Prefix, n.From, p.BaseCommit)
		}
		r, to := s.world.repos[p.Path], n.To
		if r.base == n.To && s.rng.IntN(2) == 0 {
			r.base, to = n.From, n.From
		}
		for at := to; at != "" && at != n.From; at = s.world.commits[at].parent {
			delete(s.world.suspect, at)
		}
		if _, err := s.intake.BaseAt(s.ctx, p.Path, to); err != nil {
			return err
		}
	}
	return nil
}
