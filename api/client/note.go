package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"coppice/api"
)

// NoteQuery chooses notes of a project.
type NoteQuery struct {
	Task   string // of this task; empty means those of the project
	All    bool   // of the project and of all its tasks
	Prefix string // of the key
	After  string // the Next of the previous page
	Limit  int    // 0 means 100
}

func notesPath(project, key string) string {
	path := "/projects/" + url.PathEscape(project) + "/notes"
	if key != "" {
		path += "/" + url.PathEscape(key)
	}
	return path
}

// Notes lists notes without their values.
func (c *Client) Notes(ctx context.Context, project string, q NoteQuery) (api.NotePage, error) {
	v := query("task", q.Task, "prefix", q.Prefix, "after", q.After)
	setIf(v, "all", q.All)
	setNumber(v, "limit", q.Limit)
	return get[api.NotePage](ctx, c, notesPath(project, ""), v)
}

// Note reads a note of a project, or of a task of it.
func (c *Client) Note(ctx context.Context, project, task, key string) (api.Note, error) {
	return get[api.Note](ctx, c, notesPath(project, key), query("task", task))
}

// PutNote writes a note of a project, or of a task of it.
func (c *Client) PutNote(ctx context.Context, project, task, key string, w api.NoteWrite) (api.Note, error) {
	return call[api.Note](ctx, c, http.MethodPut, notesPath(project, key), query("task", task), w)
}

// DeleteNote deletes a note, if it has the version; nil means any.
func (c *Client) DeleteNote(ctx context.Context, project, task, key string, version *int64) (api.Note, error) {
	v := query("task", task)
	if version != nil {
		v.Set("if_version", strconv.FormatInt(*version, 10))
	}
	return call[api.Note](ctx, c, http.MethodDelete, notesPath(project, key), v, nil)
}
