package review

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/api"
	"coppice/store"
	"coppice/workspace"
)

// Comment adds a draft. The code that it is about is read from the task's change or the
// flow's document, never from the request.
func (r *Reviews) Comment(ctx context.Context, t coppice.Task, n api.NewComment) (coppice.Comment, error) {
	c := coppice.Comment{Path: n.Path, Side: n.Side, First: n.First, Last: max(n.First, n.Last), Text: n.Text}
	if c.Side == "" {
		c.Side = coppice.SideNew
	}
	if n.Last != 0 && n.Last < n.First {
		c.Last = n.Last // the intake says why it is refused
	}
	blob, content, err := r.content(ctx, t, c.Side, c.Path)
	if err != nil {
		return c, err
	}
	lines := strings.SplitAfter(content, "\n")
	if strings.HasSuffix(content, "\n") || content == "" {
		lines = lines[:len(lines)-1]
	}
	if c.Last > len(lines) {
		return c, coppice.Errorf(coppice.EInvalid, "%s has %d lines", coppice.Quote(c.Path), len(lines)).WithFix("choose lines of the file").WithField("last")
	}
	c.Blob = blob
	if c.First >= 1 && c.First <= c.Last {
		c.Code = strings.ToValidUTF8(strings.Join(lines[c.First-1:c.Last], ""), "\uFFFD")
	}
	return r.AddComment(ctx, t.Key, c)
}

// content returns what a comment is about: a file of the task's change, or the newest
// version of a flow's document.
func (r *Reviews) content(ctx context.Context, t coppice.Task, side coppice.Side, path string) (blob, content string, err error) {
	if side == coppice.SideDocument {
		d, err := store.Read(ctx, r.store, func(rd store.Reader) (coppice.Document, error) { return rd.Documents.Get(t.ID, path, 0) })
		return strconv.FormatInt(d.Version, 10), d.Text, err
	}
	c, err := r.change(ctx, t)
	if err != nil {
		return "", "", err
	}
	return r.file(ctx, c, side, path)
}

// file returns a file on one side of a change. A path that the change renamed is
// found under its other name.
func (r *Reviews) file(ctx context.Context, c change, side coppice.Side, path string) (blob, content string, err error) {
	if c.Head == "" {
		return "", "", coppice.Errorf(coppice.EConflict, "there is no change to comment on yet").WithFix("wait until its agent has committed something")
	}
	commit := c.Head
	if side == coppice.SideOld {
		commit = c.Base
	}
	return r.spaces.File(ctx, c.repo, commit, c.on(side, path), largeFile)
}

// on returns the path of a file on one side of a change.
func (c change) on(side coppice.Side, path string) string {
	for _, f := range c.Files {
		switch {
		case f.OldPath == "":
		case side == coppice.SideOld && f.Path == path:
			return f.OldPath
		case side == coppice.SideNew && f.OldPath == path:
			return f.Path
		}
	}
	return path
}

// fileOf returns the path under which the change has a file, "" if it does not touch
// the file.
func (c change) fileOf(path string) string {
	i := slices.IndexFunc(c.Files, func(f workspace.ChangedFile) bool { return f.Path == path || f.OldPath == path })
	if i < 0 {
		return ""
	}
	return c.Files[i].Path
}

// anchored finds where the code of each comment is now, and counts the drafts.
func (r *Reviews) anchored(ctx context.Context, c change, comments []coppice.Comment) (out []api.ReviewComment, drafts int, err error) {
	type content struct{ blob, text string }
	known := map[string]content{} // by side and path
	out = []api.ReviewComment{}
	for _, x := range comments {
		if x.State == coppice.CommentDraft {
			drafts++
		}
		key := string(x.Side) + " " + x.Path
		at, read := known[key]
		if !read {
			at.blob, at.text, err = r.file(ctx, c, x.Side, x.Path)
			if code := coppice.ErrorCode(err); err != nil && code != coppice.ENotFound && code != coppice.EConflict {
				return nil, 0, err
			}
			known[key] = at
		}
		rc := api.ReviewComment{Comment: x, File: c.fileOf(c.on(x.Side, x.Path)), Outdated: true, Can: x.State.Can()}
		if first, last, ok := x.Find(at.blob, at.text); ok {
			rc.At, rc.Outdated = &api.Place{Path: c.on(x.Side, x.Path), First: first, Last: last}, false
		}
		out = append(out, rc)
	}
	return out, drafts, nil
}
