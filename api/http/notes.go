package http

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// Notes writes and deletes notes.
type Notes interface {
	// PutNote writes a note. If expected is not nil, the note must have that version,
	// or must not exist if it is 0.
	PutNote(ctx context.Context, n coppice.Note, expected *int64) (coppice.Note, error)
	DeleteNote(ctx context.Context, n coppice.Note, expected *int64) error
}

// NotesIn names notes. It is exported for the same reason as ProjectIn.
type NotesIn struct {
	ProjectIn
	Task string `query:"task" maxLength:"40" doc:"Notes of this task; without it, those of the project"`
}

// NoteIn names a note.
type NoteIn struct {
	NotesIn
	Key string `path:"key" maxLength:"200" doc:"The key of a note, such as plan/step-1, with its slashes escaped"`
}

type listNotesIn struct {
	NotesIn
	All    bool   `query:"all" doc:"Notes of the project and of all its tasks"`
	Prefix string `query:"prefix" maxLength:"200" doc:"Only keys that start with this"`
	After  string `query:"after" maxLength:"300" doc:"The next of the previous page"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

type putNoteIn struct {
	NoteIn
	Body api.NoteWrite
}

type deleteNoteIn struct {
	NoteIn
	IfVersion int64 `query:"if_version" minimum:"-1" default:"-1" doc:"The version that the note must have now; -1 means any"`
}

func (s *Server) noteRoutes(a huma.API) {
	const one = "/projects/{project}/notes/{key}"
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/notes", id: "list-notes", tag: "notes", about: "List the notes of a project or a task, sorted by key, without their values"}, s.listNotes)
	add(s, a, op{method: http.MethodGet, path: one, id: "show-note", tag: "notes", about: "Read a note"}, s.showNote)
	add(s, a, op{method: http.MethodPut, path: one, id: "put-note", tag: "notes", body: textBody, about: "Write a note; secrets in its value are masked"}, s.putNote)
	add(s, a, op{method: http.MethodDelete, path: one, id: "delete-note", tag: "notes", about: "Delete a note"}, s.deleteNote)
}

// find returns the note that a request names, without its value. The task must belong
// to the project.
func (in NotesIn) find(r store.Reader, key string) (n coppice.Note, err error) {
	if n.ProjectID, err = projectID(r, in.Project); err != nil {
		return n, err
	}
	n.Scope, n.Key = coppice.NotesOfProject, key
	if in.Task == "" {
		return n, nil
	}
	t, err := taskByKey(r, in.Task)
	if err == nil && t.ProjectID != n.ProjectID {
		err = coppice.Errorf(coppice.ENotFound, "the project %s has no task %s", in.Project, t.Key).WithField("task")
	}
	n.Scope = coppice.NotesOfTask(t.ID)
	return n, err
}

func (s *Server) listNotes(ctx context.Context, in *listNotesIn) (api.NotePage, error) {
	return store.Read(ctx, s.cfg.Store, func(r store.Reader) (out api.NotePage, err error) {
		at, err := in.find(r, "")
		if err == nil {
			err = coppice.ValidNotePrefix(in.Prefix)
		}
		if err != nil {
			return out, err
		}
		f := store.NoteFilter{ProjectID: at.ProjectID, Scope: at.Scope, Prefix: in.Prefix, Most: in.Limit + 1}
		if in.All {
			f.Scope = ""
		}
		scope, after, _ := strings.Cut(in.After, " ")
		f.AfterScope, f.After = coppice.NoteScope(scope), after
		all, err := r.Notes.List(f)
		if err != nil {
			return out, err
		}
		if len(all) > in.Limit {
			all = all[:in.Limit]
			out.Next = string(all[in.Limit-1].Scope) + " " + all[in.Limit-1].Key
		}
		if out.Notes, err = noteViews(r, in.Project, all); err != nil {
			return out, err
		}
		totals, err := r.Notes.Totals(at.ProjectID)
		out.Total, out.Bytes = totals.Notes, totals.Bytes
		return out, err
	})
}

// noteViews makes the API's view of notes.
func noteViews(r store.Reader, project string, notes []coppice.Note) ([]api.Note, error) {
	var ids []int64
	for _, n := range notes {
		if id := n.Scope.Task(); id != 0 {
			ids = append(ids, id)
		}
	}
	tasks, err := r.Tasks.Some(ids)
	out := make([]api.Note, len(notes))
	for i, n := range notes {
		out[i] = api.Note{
			Project: project, Scope: string(n.Scope), Task: tasks[n.Scope.Task()].Key, Key: n.Key, Value: n.Value, Version: n.Version, Size: n.Size,
			By: n.By.String(), UpdatedAt: n.At,
		}
	}
	return out, err
}

func (s *Server) showNote(ctx context.Context, in *NoteIn) (api.Note, error) {
	return store.Read(ctx, s.cfg.Store, func(r store.Reader) (api.Note, error) {
		n, err := in.find(r, in.Key)
		if err == nil {
			n, err = r.Notes.Get(n.ProjectID, n.Scope, n.Key)
		}
		if err != nil {
			return api.Note{}, err
		}
		views, err := noteViews(r, in.Project, []coppice.Note{n})
		return views[0], err
	})
}

func (s *Server) putNote(ctx context.Context, in *putNoteIn) (api.Note, error) {
	n, err := store.Read(ctx, s.cfg.Store, func(r store.Reader) (coppice.Note, error) { return in.find(r, in.Key) })
	if err != nil {
		return api.Note{}, err
	}
	n.Value = in.Body.Value
	if _, err := s.cfg.Projects.PutNote(ctx, n, in.Body.IfVersion); err != nil {
		return api.Note{}, err
	}
	return s.showNote(ctx, &in.NoteIn)
}

func (s *Server) deleteNote(ctx context.Context, in *deleteNoteIn) (api.Note, error) {
	gone, err := s.showNote(ctx, &in.NoteIn)
	if err != nil {
		return gone, err
	}
	n, err := store.Read(ctx, s.cfg.Store, func(r store.Reader) (coppice.Note, error) { return in.find(r, in.Key) })
	if err != nil {
		return gone, err
	}
	var expected *int64
	if in.IfVersion >= 0 {
		expected = &in.IfVersion
	}
	return gone, s.cfg.Projects.DeleteNote(ctx, n, expected)
}
