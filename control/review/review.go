// Package review shows the change of a task to people who review it: its files
// and their comments with the code that they are about.
//
// A review is about commits: the candidate that waits to land, what landed, or
// the head of the task's branch. It reads them from Coppice's own repository, so
// an agent that runs in the workspace cannot change what it shows.
package review

import (
	"context"
	"slices"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
	"coppice/workspace"
)

// Limits of a review.
const (
	largeFile  = 512 << 10 // bytes of a file whose hunks are shown
	largeLines = 5000      // changed lines of such a file
	mostLines  = 20000     // changed lines of all files of one response
	mostFiles  = 300       // files whose hunks are in one response
)

// Reviews shows reviews. Changes to comments go to the engine's intake.
type Reviews struct {
	*engine.Intake
	store  store.Store
	spaces *workspace.Workspaces
}

// New returns Reviews.
func New(s store.Store, spaces *workspace.Workspaces, intake *engine.Intake) *Reviews {
	return &Reviews{Intake: intake, store: s, spaces: spaces}
}

// viewer is the person whose viewed files are shown. Everyone who has the
// server's token is the same person.
var viewer = coppice.Actor{Kind: coppice.ActorPerson}.String()

// change is what is reviewed: a task's commits, and the files between them.
type change struct {
	workspace.Change
	repo    string
	landing *coppice.Landing // of Head; nil if it has none
	decides bool             // a person's approval of that landing is one of Head
}

// Review returns the review of a task, or a part of it.
func (r *Reviews) Review(ctx context.Context, t coppice.Task, part api.ReviewPart) (out api.Review, err error) {
	out.Task, out.Files, out.Comments, out.Checks = t.Key, []api.ReviewFile{}, []api.ReviewComment{}, []api.Check{}
	c, err := r.change(ctx, t)
	if err != nil {
		return out, err
	}
	var comments []coppice.Comment
	var seen []coppice.Viewed
	err = r.store.View(ctx, func(rd store.Reader) (err error) {
		if comments, err = rd.Comments.Of(t.ID); err != nil {
			return err
		}
		comments = slices.DeleteFunc(comments, func(c coppice.Comment) bool { return c.Side == coppice.SideDocument })
		if seen, err = rd.Viewed.Of(t.ID); err != nil {
			return err
		}
		if err = c.proofs(rd, &out); err != nil {
			return err
		}
		out.Follows, err = r.AfterReview(rd, t)
		if e := coppice.Public(err); err != nil && e.Code == coppice.EConflict {
			out.Refused, err = e.Cause+"; "+e.Fix, nil
		}
		return err
	})
	if err != nil {
		return out, err
	}
	out.Base, out.Head = c.Base, c.Head
	for _, f := range c.Files {
		file := fileOf(f)
		file.Viewed = slices.Contains(seen, coppice.Viewed{TaskID: t.ID, By: viewer, Path: f.Path, Blob: file.Blob})
		if file.Viewed {
			out.Viewed++
		}
		out.Files = append(out.Files, file)
	}
	if err := r.hunks(ctx, c, out.Files, part); err != nil {
		return out, err
	}
	if part.Path != "" {
		out.Files = slices.DeleteFunc(out.Files, func(f api.ReviewFile) bool { return f.Path != part.Path })
		if len(out.Files) == 0 {
			return out, notTouched(t, part.Path)
		}
	}
	out.Comments, out.Drafts, err = r.anchored(ctx, c, comments)
	return out, err
}

// proofs adds what is known about the landing of the change: its checks, and who
// judged or approved it.
func (c change) proofs(rd store.Reader, out *api.Review) error {
	l := c.landing
	if l == nil {
		return nil
	}
	if out.Landing = l.ID; c.decides {
		out.Approved, out.ApprovedAt = l.ApprovedBy, l.ApprovedAt
	}
	if l.Tree != "" {
		checks, err := rd.Checks.On(l.ProjectID, l.Tree)
		if err != nil {
			return err
		}
		for _, k := range checks {
			k.Log = ""
			out.Checks = append(out.Checks, api.Check{Check: k, Result: k.Result()})
		}
	}
	candidates, err := rd.Landings.Candidates(l.ID)
	if err != nil {
		return err
	}
	sessions, err := rd.Sessions.Of(l.TaskID)
	for _, s := range sessions {
		if s.Verdict != nil && slices.ContainsFunc(candidates, func(x coppice.Candidate) bool { return x.Commit == s.From }) {
			out.Judged = s.Key
		}
	}
	return err
}

func notTouched(t coppice.Task, path string) error {
	return coppice.Errorf(coppice.ENotFound, "the change of %s does not touch %s", t.Key, coppice.Quote(path)).
		WithFix("see the files with `coppice review %s`", t.Key).WithField("path")
}

// Text returns a file of a task's change, whole, before and after it.
func (r *Reviews) Text(ctx context.Context, t coppice.Task, path string) (out api.ReviewText, err error) {
	c, err := r.change(ctx, t)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(c.Files, func(f workspace.ChangedFile) bool { return f.Path == path })
	if i < 0 {
		return out, notTouched(t, path)
	}
	f := fileOf(c.Files[i])
	if f.Binary || f.Large {
		return out, coppice.Errorf(coppice.EInvalid, "%s is binary or too large to show", coppice.Quote(path)).
			WithFix("read it with `coppice diff %s`", t.Key).WithField("path")
	}
	out.Path, out.Blob = f.Path, f.Blob
	if out.Old, err = r.side(ctx, c, c.Files[i].Old); err == nil {
		out.New, err = r.side(ctx, c, c.Files[i].New)
	}
	return out, err
}

// side returns the text of a file on one side of a change, or nil.
func (r *Reviews) side(ctx context.Context, c change, blob string) (*string, error) {
	if blob == "" {
		return nil, nil
	}
	text, err := r.spaces.Blob(ctx, c.repo, blob, largeFile)
	return &text, err
}

// fileOf returns a file of a change without its hunks.
func fileOf(f workspace.ChangedFile) api.ReviewFile {
	file := api.ReviewFile{
		Path: f.Path, OldPath: f.OldPath, Kind: f.Kind, Added: f.Added, Removed: f.Removed, Binary: f.Binary, Blob: f.New,
		Large: f.Size > largeFile || f.Added+f.Removed > largeLines,
	}
	if f.New == "" {
		file.Blob = f.Old
	}
	return file
}

// change finds what is reviewed of a task: what landed, its open candidate, the
// head of its branch, or what its last session left.
func (r *Reviews) change(ctx context.Context, t coppice.Task) (c change, err error) {
	rows, err := store.Read(ctx, r.store, func(rd store.Reader) (store.TaskRows, error) { return store.RowsOf(rd, t) })
	if err != nil {
		return c, err
	}
	c.repo = rows.Project.Path
	base, head := rows.Project.Onto(t), headOf(rows.Workspace, rows.Sessions, t)
	if n := len(rows.Landings); n > 0 {
		switch l := rows.Landings[n-1]; {
		case t.Landed != "" && l.Commit == t.Landed:
			base, head, c.landing, c.decides = l.Base, t.Landed, &l, true
		case l.Round == t.Round && l.EndedAt.IsZero():
			head, c.landing, c.decides = l.Head, &l, true
		}
	}
	if head == "" {
		return c, nil // no session has started yet
	}
	c.Change, err = r.spaces.Change(ctx, c.repo, base, head)
	for _, l := range slices.Backward(rows.Landings) {
		if c.landing == nil && l.Head == c.Head && l.Reverts == "" { // it has ended
			c.landing = &l
		}
	}
	return c, err
}

// headOf returns the branch of a task's workspace, or the last commit of a task
// whose workspace was removed.
func headOf(ws *coppice.Workspace, sessions []coppice.Session, t coppice.Task) string {
	if ws != nil && ws.Ready() {
		return ws.Branch
	}
	for _, s := range slices.Backward(sessions) {
		if !s.Role.Detached() && s.Head != "" {
			return s.Head
		}
	}
	return ""
}
