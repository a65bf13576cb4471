package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
)

type reviewIn struct {
	TaskIn
	Files string `query:"files" enum:"only" doc:"only leaves out the hunks of all files"`
	Path  string `query:"path" maxLength:"4096" doc:"Only this file, with its hunks"`
}

type reviewTextIn struct {
	TaskIn
	Path string `query:"path" required:"true" minLength:"1" maxLength:"4096" doc:"A file of the change"`
}

// CommentIn names a comment of a task. It is exported for the same reason as
// ProjectIn.
type CommentIn struct {
	TaskIn
	ID int64 `path:"id" minimum:"1" doc:"The comment's id"`
}

type changeCommentIn struct {
	CommentIn
	Body api.CommentChange
}

type sendCommentsIn struct {
	TaskIn
	Body struct {
		Text string `json:"text,omitempty" doc:"About the whole change; the agent reads it first"`
	}
}

func (s *Server) reviewRoutes(a huma.API) {
	of := func(method, path, id, about string) op {
		return op{method: method, path: "/tasks/{key}/" + path, id: id, tag: "review", about: about}
	}
	add(s, a, of(http.MethodGet, "review", "review-task", "Show a task's change by file, with the comments on it"), s.review)
	add(s, a, of(http.MethodGet, "review/text", "review-text", "Show a file of a task's change, whole, before and after it; at most 512 KiB each"), s.reviewText)
	add(s, a, of(http.MethodPost, "comments", "add-comment", "Comment on lines of a task's change; the agent gets the comment when the drafts are sent"), s.addComment)
	add(s, a, of(http.MethodPatch, "comments/{id}", "change-comment", "Edit, resolve or reopen a comment"), s.changeComment)
	add(s, a, of(http.MethodDelete, "comments/{id}", "delete-comment", "Delete a draft"), s.deleteComment)
	send := of(http.MethodPost, "comments/send", "send-comments", "Send all drafts to the agent as one message; a task that waits for you, or has ended, continues with it")
	send.body = textBody
	add(s, a, send, s.sendComments)
	add(s, a, of(http.MethodPut, "viewed", "mark-viewed", "Mark a content of a file as viewed, or not"), s.markViewed)
}

// reviewed returns a task and what shows its review.
func (s *Server) reviewed(ctx context.Context, key string) (t coppice.Task, err error) {
	if s.cfg.Reviews == nil {
		return t, coppice.Errorf(coppice.EUnavailable, "this server cannot show reviews").WithFix("read the change with `coppice diff %s`", key)
	}
	return s.task(ctx, key)
}

func (s *Server) review(ctx context.Context, in *reviewIn) (out api.Review, err error) {
	t, err := s.reviewed(ctx, in.Key)
	if err != nil {
		return out, err
	}
	return s.cfg.Reviews.Review(ctx, t, api.ReviewPart{FilesOnly: in.Files != "", Path: in.Path})
}

func (s *Server) reviewText(ctx context.Context, in *reviewTextIn) (out api.ReviewText, err error) {
	t, err := s.reviewed(ctx, in.Key)
	if err != nil {
		return out, err
	}
	return s.cfg.Reviews.Text(ctx, t, in.Path)
}

func (s *Server) addComment(ctx context.Context, in *inTask[api.NewComment]) (out coppice.Comment, err error) {
	t, err := s.reviewed(ctx, in.Key)
	if err != nil {
		return out, err
	}
	return s.cfg.Reviews.Comment(ctx, t, in.Body)
}

func (s *Server) changeComment(ctx context.Context, in *changeCommentIn) (out coppice.Comment, err error) {
	c := in.Body
	if (c.Text == nil) == (c.Resolved == nil) {
		return out, coppice.Errorf(coppice.EInvalid, "the request must have either a text or resolved").WithFix("edit the comment, or resolve or reopen it")
	}
	if _, err = s.reviewed(ctx, in.Key); err != nil {
		return out, err
	}
	if c.Text != nil {
		return s.cfg.Reviews.EditComment(ctx, in.Key, in.ID, *c.Text)
	}
	return s.cfg.Reviews.ResolveComment(ctx, in.Key, in.ID, *c.Resolved)
}

func (s *Server) deleteComment(ctx context.Context, in *CommentIn) (out none, err error) {
	if _, err = s.reviewed(ctx, in.Key); err != nil {
		return out, err
	}
	return out, s.cfg.Reviews.DropComment(ctx, in.Key, in.ID)
}

func (s *Server) sendComments(ctx context.Context, in *sendCommentsIn) (out coppice.Message, err error) {
	if _, err = s.reviewed(ctx, in.Key); err != nil {
		return out, err
	}
	return s.cfg.Reviews.SendComments(ctx, in.Key, in.Body.Text)
}

func (s *Server) markViewed(ctx context.Context, in *inTask[api.ViewedFile]) (out none, err error) {
	if _, err = s.reviewed(ctx, in.Key); err != nil {
		return out, err
	}
	if err := coppice.ValidHash(in.Body.Blob); err != nil {
		return out, coppice.Public(err).WithField("blob")
	}
	return out, s.cfg.Reviews.MarkViewed(ctx, in.Key, in.Body.Path, in.Body.Blob, in.Body.Viewed)
}
