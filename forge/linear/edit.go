package linear

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"coppice"
)

// Edit implements forge.Tracker. It moves an issue to another state last.
func (t *team) Edit(ctx context.Context, id string, e coppice.IssueEdit) error {
	i, err := t.issue(ctx, id)
	if err != nil {
		return err
	}
	if len(e.Add) > 0 {
		if err := t.addLabels(ctx, i, e.Add); err != nil {
			return err
		}
	}
	for _, l := range i.Labels.Nodes {
		if slices.ContainsFunc(e.Drop, func(name string) bool { return strings.EqualFold(name, l.Name) }) {
			if _, err := call[any](ctx, t, mutateRemove, vars{"id": i.ID, "label": l.ID}); err != nil {
				return failed(err)
			}
		}
	}
	input := vars{}
	if e.Title != nil {
		input["title"] = coppice.FirstLine(*e.Title)
	}
	if e.Text != nil {
		input["description"] = toLinear(*e.Text)
	}
	if e.Closed != nil || e.Status != "" {
		_, states, err := t.team(ctx)
		if err != nil {
			return err
		}
		if state := stateFor(i, states, e); state != "" {
			input["stateId"] = state
		}
	}
	if len(input) == 0 {
		return nil
	}
	_, err = call[any](ctx, t, mutateIssue, vars{"id": i.ID, "input": input})
	return failed(err)
}

// addLabels adds labels of the team or of the whole workspace. It creates those that do
// not exist, for the team.
func (t *team) addLabels(ctx context.Context, i *issue, names []string) error {
	t.labelling.Lock()
	defer t.labelling.Unlock()
	known := map[string]string{}
	after := vars{"after": nil}
	for range mostLabelPages {
		got, err := call[struct {
			IssueLabels struct {
				Nodes []struct {
					ID, Name string
					Team     *struct{ Key string }
				}
				PageInfo pageInfo
			}
		}](ctx, t, queryLabels, after)
		if err != nil {
			return failed(err)
		}
		for _, l := range got.IssueLabels.Nodes {
			if l.Team == nil || strings.EqualFold(l.Team.Key, t.key) {
				known[strings.ToLower(l.Name)] = l.ID
			}
		}
		if after["after"] = got.IssueLabels.PageInfo.EndCursor; !got.IssueLabels.PageInfo.HasNextPage {
			break
		}
	}
	for _, name := range names {
		id := known[strings.ToLower(name)]
		if id == "" {
			number, _, err := t.team(ctx)
			if err != nil {
				return err
			}
			got, err := call[struct {
				IssueLabelCreate struct{ IssueLabel struct{ ID string } }
			}](ctx, t, mutateLabel, vars{"input": vars{"name": name, "color": "#808080", "teamId": number}})
			if err != nil {
				return failed(err)
			}
			id = got.IssueLabelCreate.IssueLabel.ID
		}
		if _, err := call[any](ctx, t, mutateAdd, vars{"id": i.ID, "label": id}); err != nil {
			return failed(err)
		}
	}
	return nil
}

// stateFor returns the state that an edit asks for, empty if the issue keeps its own. An
// issue that a person has moved to another state of the same kind stays there.
func stateFor(i *issue, states []teamState, e coppice.IssueEdit) string {
	first := func(types ...string) string {
		for _, kind := range types {
			list := slices.DeleteFunc(slices.Clone(states), func(s teamState) bool { return s.Type != kind || isReview(s.Name) })
			if len(list) > 0 {
				return slices.MinFunc(list, func(a, b teamState) int { return cmp.Compare(a.Position, b.Position) }).ID
			}
		}
		return ""
	}
	closes := e.Closed != nil && *e.Closed
	kept := func(keeps bool, state string) string {
		if keeps && !i.closed() {
			return ""
		}
		return state
	}
	switch {
	case closes && e.Status == coppice.IssueStopped:
		return first("canceled", "completed")
	case closes:
		return first("completed", "canceled")
	case e.Closed == nil && i.closed():
		return "" // a person closed it
	case e.Status == coppice.IssueWorking:
		return kept(i.State.Type == "started" && !isReview(i.State.Name), first("started"))
	case e.Status == coppice.IssueReview:
		for _, s := range states {
			if s.Type == "started" && isReview(s.Name) {
				return kept(isReview(i.State.Name), s.ID)
			}
		}
		return kept(i.State.Type == "started", first("started"))
	case e.Status == coppice.IssueWaiting:
		return kept(slices.Contains([]string{"triage", "backlog", "unstarted"}, i.State.Type), first("unstarted", "backlog"))
	case e.Closed != nil:
		return first("unstarted", "backlog", "started")
	}
	return ""
}

// isReview reports whether a state is usually the one in which work waits for a review.
func isReview(name string) bool { return strings.Contains(strings.ToLower(name), "review") }
