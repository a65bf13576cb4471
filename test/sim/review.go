package sim

import (
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// review is a person who looks at a task that waits for an approval: they approve
// it, ask for changes, or leave it.
func (s *sim) review() error {
	key, err := s.oneOf("", func(t coppice.Task) bool { return t.Stage.Awaits() })
	if err != nil || key == "" {
		return err
	}
	switch s.reviews.IntN(4) {
	case 0:
		return s.land(key)
	case 1:
		return s.continueTask(key)
	case 2:
		return s.comment(key)
	}
	return nil
}

// comment writes a comment and sends it. A crash between the two leaves a draft.
func (s *sim) comment(key string) error {
	c := coppice.Comment{Path: "f1", Side: coppice.SideNew, First: 1, Last: 1, Blob: "b", Code: "x\n", Text: fmt.Sprintf("comment %d", s.reviews.IntN(1e9))}
	if _, err := s.intake.AddComment(s.ctx, key, c); err != nil {
		return err
	}
	_, err := s.intake.SendComments(s.ctx, key, "")
	return err
}

// land approves the candidate of a task, or what its branch has if it ended.
func (s *sim) land(key string) error {
	head, limited := "", false
	err := s.st.View(s.ctx, func(r store.Reader) error {
		t, err := r.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		l, err := r.Landings.Last(t.ID)
		limited = verb.AtLimit(t)
		if ws := s.world.spaces[key]; (t.Ended() || limited || verb.YourTurn(t)) && ws != nil {
			head = ws.head
		} else if l != nil {
			head = l.Head
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, err = s.intake.Ask(s.ctx, key, coppice.VerbLand, verb.Request{}); err == nil {
		s.approved[key+" "+head] = true
		if limited { // its branch lands instead of the session that a requeue has asked for
			delete(s.requeued, key)
		}
	}
	return err
}

// ruleFor returns the rule that asks for a review of a change.
func ruleFor(ask coppice.LandAsk, old, now map[string]string) string {
	lines := 0
	for f := range now {
		if now[f] == old[f] {
			continue
		}
		lines++
		if slices.Contains(ask.Paths, f) {
			return "it changes a file (land.ask.paths)"
		}
	}
	if ask.Lines > 0 && lines > ask.Lines {
		return "it changes lines (land.ask.lines)"
	}
	return ""
}

// reviewsHold checks that nothing landed without the approval that the policy
// asks for, and that a comment is a draft, or in a message. What lands on the branch of
// a flow needs none: the flow's own landing does.
func (s *sim) reviewsHold(r store.Reader, t taskFacts) error {
	land := t.project.Policy.Land
	for _, l := range t.landings {
		c := s.world.commits[l.Commit]
		asks := !strings.HasPrefix(t.Onto, coppice.TaskBranch("")) && !land.Method().Forge && (land.Method().Stage != "" || slices.Contains(land.Ask.Categories, t.Category) ||
			ruleFor(land.Ask, s.world.tree(c.parent), c.tree) != "")
		if l.Outcome == coppice.LandingLanded && asks && (!s.approved[t.Key+" "+l.Head] && l.Reverts == "" || l.ApprovedBy == "") { // the request to revert approves it
			return fmt.Errorf("%s landed %s, which nobody approved (%q)", t.Key, l.Head, l.ApprovedBy)
		}
	}
	comments, err := r.Comments.Of(t.ID)
	for _, c := range comments {
		if (c.State == coppice.CommentDraft) != (c.MessageID == 0) {
			return fmt.Errorf("%s: comment %d is a %s in message %d", t.Key, c.ID, c.State, c.MessageID)
		}
	}
	return err
}
