package forgetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/forge"
)

// Memory is a tracker in memory. Its account is called coppice.
type Memory struct {
	Now func() time.Time // the time of a change; nil means one second later than the change before
	// Before is called before each method of forge.Tracker, with its name. Its error is
	// what the method fails with. Nil means that no method fails.
	Before func(ctx context.Context, method string) error
	// After is like Before, when the method has had its effect.
	After func(ctx context.Context, method string) error

	mu       sync.Mutex
	issues   map[string]*coppice.IssueRead
	changes  int
	comments int
}

var _ forge.Tracker = (*Memory)(nil)

// Change changes an issue as a person, or adds one.
func (m *Memory) Change(id string, change func(*coppice.IssueRead)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.change(id, change)
}

func (m *Memory) change(id string, change func(*coppice.IssueRead)) {
	if m.issues == nil {
		m.issues = map[string]*coppice.IssueRead{}
	}
	r := m.issues[id]
	if r == nil {
		r = &coppice.IssueRead{ID: id, URL: "http://tracker.invalid/" + id}
		m.issues[id] = r
	}
	change(r)
	m.changes++
	if r.UpdatedAt = time.Unix(int64(1_000_000+m.changes), 0).UTC(); m.Now != nil {
		r.UpdatedAt = m.Now()
	}
}

// Remove removes an issue without a trace.
func (m *Memory) Remove(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.issues, id)
}

// Comment adds a comment as a person, who has write access.
func (m *Memory) Comment(id, author, text string) {
	m.Change(id, func(r *coppice.IssueRead) { m.comment(r, author, text) })
}

func (m *Memory) comment(r *coppice.IssueRead, author, text string) {
	m.comments++
	r.Comments = append(r.Comments, coppice.IssueComment{
		ID: strconv.Itoa(m.comments), Author: author, Writes: true, Text: text, Own: author == "coppice", At: time.Unix(int64(m.comments), 0).UTC(),
	})
}

// All returns all issues.
func (m *Memory) All() map[string]coppice.IssueRead {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]coppice.IssueRead{}
	for id, r := range m.issues {
		all[id] = clone(*r)
	}
	return all
}

func clone(r coppice.IssueRead) coppice.IssueRead {
	r.Labels, r.Assignees, r.Comments = slices.Clone(r.Labels), slices.Clone(r.Assignees), slices.Clone(r.Comments)
	return r
}

// do carries out a method on an issue, or on all if id is empty.
func (m *Memory) do(ctx context.Context, method, id string, do func(*coppice.IssueRead) error) error {
	if m.Before != nil {
		if err := m.Before(ctx, method); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	r := m.issues[id]
	err := fmt.Errorf("%w", coppice.Errorf(coppice.ENotFound, "there is no issue %s", coppice.Quote(id)))
	if r != nil || id == "" {
		err = do(r)
	}
	m.mu.Unlock()
	if err == nil && m.After != nil {
		err = m.After(ctx, method)
	}
	return err
}

// Issues implements forge.Tracker.
func (m *Memory) Issues(ctx context.Context, q forge.IssueQuery) (list []coppice.IssueRead, err error) {
	err = m.do(ctx, "Issues", "", func(*coppice.IssueRead) error {
		for _, id := range slices.Sorted(maps.Keys(m.issues)) {
			if r := m.issues[id]; matches(*r, q) {
				list = append(list, clone(*r))
				list[len(list)-1].Comments = nil
			}
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b coppice.IssueRead) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	for n := forge.MostIssues; n < len(list); n++ {
		if list[n-1].UpdatedAt.After(q.Since) {
			return list[:n], err
		}
	}
	return list, err
}

func matches(r coppice.IssueRead, q forge.IssueQuery) bool {
	for w := range strings.FieldsSeq(q.Query) {
		if !strings.Contains(r.Title+" "+r.Text, w) {
			return false
		}
	}
	return !r.UpdatedAt.Before(q.Since) && q.Matches(r)
}

// Issue implements forge.Tracker.
func (m *Memory) Issue(ctx context.Context, id string) (r coppice.IssueRead, err error) {
	err = m.do(ctx, "Issue", id, func(found *coppice.IssueRead) error { r = clone(*found); return nil })
	return r, err
}

// Edit implements forge.Tracker.
func (m *Memory) Edit(ctx context.Context, id string, e coppice.IssueEdit) error {
	return m.do(ctx, "Edit", id, func(*coppice.IssueRead) error {
		m.change(id, func(r *coppice.IssueRead) {
			for to, from := range map[*string]*string{&r.Title: e.Title, &r.Text: e.Text} {
				if from != nil {
					*to = *from
				}
			}
			if e.Closed != nil {
				r.Closed = *e.Closed
			}
			r.Labels = slices.DeleteFunc(append(r.Labels, e.Add...), func(l string) bool { return slices.Contains(e.Drop, l) })
		})
		return nil
	})
}

// Comments implements forge.Tracker.
func (m *Memory) Comments(ctx context.Context, id string) (list []coppice.IssueComment, err error) {
	err = m.do(ctx, "Comments", id, func(r *coppice.IssueRead) error { list = slices.Clone(r.Comments); return nil })
	return list, err
}

// AddComment implements forge.Tracker.
func (m *Memory) AddComment(ctx context.Context, id, text string) error {
	return m.do(ctx, "AddComment", id, func(*coppice.IssueRead) error {
		m.change(id, func(r *coppice.IssueRead) { m.comment(r, "coppice", text) })
		return nil
	})
}

// EditComment implements forge.Tracker.
func (m *Memory) EditComment(ctx context.Context, id, comment, text string) error {
	return m.do(ctx, "EditComment", id, func(r *coppice.IssueRead) error {
		i := slices.IndexFunc(r.Comments, func(c coppice.IssueComment) bool { return c.ID == comment })
		if i < 0 {
			return coppice.Errorf(coppice.ENotFound, "there is no comment %s", coppice.Quote(comment))
		}
		m.change(id, func(r *coppice.IssueRead) { r.Comments[i].Text = text })
		return nil
	})
}
