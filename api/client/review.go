package client

import (
	"context"
	"net/http"
	"strconv"

	"coppice"
	"coppice/api"
)

// Review shows a task's change, or a part of it.
func (c *Client) Review(ctx context.Context, key string, part api.ReviewPart) (api.Review, error) {
	v := query("path", part.Path)
	if part.FilesOnly {
		v.Set("files", "only")
	}
	return get[api.Review](ctx, c, taskPath(key, "/review"), v)
}

// ReviewText shows a file of a task's change, whole, before and after it.
func (c *Client) ReviewText(ctx context.Context, key, path string) (api.ReviewText, error) {
	return get[api.ReviewText](ctx, c, taskPath(key, "/review/text"), query("path", path))
}

// AddComment adds a draft of a comment.
func (c *Client) AddComment(ctx context.Context, key string, n api.NewComment) (coppice.Comment, error) {
	return post[coppice.Comment](ctx, c, taskPath(key, "/comments"), n)
}

// ChangeComment edits, resolves or reopens a comment.
func (c *Client) ChangeComment(ctx context.Context, key string, id int64, change api.CommentChange) (out coppice.Comment, err error) {
	return call[coppice.Comment](ctx, c, http.MethodPatch, commentPath(key, id), nil, change)
}

// DeleteComment deletes a draft.
func (c *Client) DeleteComment(ctx context.Context, key string, id int64) error {
	_, err := call[struct{}](ctx, c, http.MethodDelete, commentPath(key, id), nil, nil)
	return err
}

// SendComments sends all drafts to the agent, with a text about the whole change,
// as one message.
func (c *Client) SendComments(ctx context.Context, key, text string) (coppice.Message, error) {
	return post[coppice.Message](ctx, c, taskPath(key, "/comments/send"), map[string]string{"text": text})
}

// MarkViewed marks a content of a file as viewed, or not.
func (c *Client) MarkViewed(ctx context.Context, key string, f api.ViewedFile) error {
	_, err := call[struct{}](ctx, c, http.MethodPut, taskPath(key, "/viewed"), nil, f)
	return err
}

func commentPath(key string, id int64) string {
	return taskPath(key, "/comments/"+strconv.FormatInt(id, 10))
}
