package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/store"
)

// noteTools are about notes: texts under keys, which the sessions of a project and
// people share.
var noteTools = []tool{
	changing("write_note", "Write a text under a key, for other sessions and people. With if_version it is written only if the note still has that version; 0 means only if it does not exist.", writeNote),
	reading("read_note", "Read the note of a key.", readNote),
	reading("list_notes", "List the keys of notes, sorted, without their values. At most 200 are listed; pass the last key as after to list more.", listNotes),
	waiting("watch_notes", "Wait until notes exist for all keys, or for at least one key with the prefix; with until_value, until they have that value.", watchNotes),
	changing("delete_note", "Delete the note of a key. With if_version it is deleted only if it still has that version.", deleteNote),
}

const (
	mostListed  = 200                  // notes in one list
	mostWatched = 100                  // keys of one watch_notes
	mostValues  = coppice.MaxNoteValue // bytes of values in one answer of watch_notes
	watchFor    = 300_000              // milliseconds that watch_notes waits if it is not given
	ownTask     = "task"
	ownFlow     = "flow"
)

type writeNoteIn struct {
	Key       string `json:"key" jsonschema:"parts separated by slashes, such as plan/step-1"`
	Value     string `json:"value" jsonschema:"a text of at most 256 KiB"`
	Scope     string `json:"scope,omitempty" jsonschema:"project (default), task, which means your own task, or flow: the one to which it belongs"`
	IfVersion *int64 `json:"if_version,omitempty" jsonschema:"the version that the note must have now; 0 means that it must not exist"`
}

type wroteNote struct {
	OK      bool   `json:"ok"`
	Key     string `json:"key"`
	Version int64  `json:"version"`
	Masked  bool   `json:"masked,omitempty"` // secrets in the value were masked
}

// writeNote writes a note of the session's project or task.
func writeNote(c *call, i *engine.Intake, tx store.Tx, in writeNoteIn) (wroteNote, error) {
	n, err := c.ownNote(tx.Reader(), in.Scope, in.Key)
	if err != nil {
		return wroteNote{}, err
	}
	n.Value = in.Value
	n, err = i.PutNote(c.ctx, n, in.IfVersion)
	return wroteNote{true, n.Key, n.Version, n.Value != in.Value}, err
}

type deleteNoteIn struct {
	Key       string `json:"key"`
	Scope     string `json:"scope,omitempty" jsonschema:"project (default), task, which means your own task, or flow: the one to which it belongs"`
	IfVersion *int64 `json:"if_version,omitempty" jsonschema:"the version that the note must have now"`
}

type deletedNote struct {
	OK      bool   `json:"ok"`
	Key     string `json:"key"`
	Deleted bool   `json:"deleted"` // false if there was none
}

// deleteNote deletes a note of the session's project or task. A note that does not
// exist is not an error, unless the session expects a version.
func deleteNote(c *call, i *engine.Intake, tx store.Tx, in deleteNoteIn) (deletedNote, error) {
	n, err := c.ownNote(tx.Reader(), in.Scope, in.Key)
	if err == nil {
		err = i.DeleteNote(c.ctx, n, in.IfVersion)
	}
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return deletedNote{true, in.Key, false}, nil
	}
	return deletedNote{true, in.Key, true}, err
}

type noteIn struct {
	Key   string `json:"key"`
	Scope string `json:"scope,omitempty" jsonschema:"project (default), task, flow, or the key of a task of your family"`
}

// Note is a note as agents see it.
type Note struct {
	Found     bool       `json:"found"`
	Key       string     `json:"key"`
	Value     string     `json:"value,omitempty"`
	Version   int64      `json:"version,omitempty"`
	UpdatedAt *time.Time `json:"updated_at,omitempty"`
	By        string     `json:"by,omitempty"`
	LeftOut   bool       `json:"value_left_out,omitempty"` // the answer is too long; read_note has it
}

func noteView(n coppice.Note) Note {
	return Note{Found: true, Key: n.Key, Value: n.Value, Version: n.Version, UpdatedAt: &n.At, By: n.By.String()}
}

func readNote(c *call, r store.Reader, in noteIn) (Note, error) {
	scope, err := c.noteScope(r, in.Scope)
	if err == nil {
		err = coppice.ValidNoteKey(in.Key)
	}
	if err != nil {
		return Note{}, err
	}
	n, err := r.Notes.Get(c.session.ProjectID, scope, in.Key)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return Note{Key: in.Key}, nil
	}
	return noteView(n), err
}

type listNotesIn struct {
	Prefix string `json:"prefix,omitempty" jsonschema:"only keys that start with this, such as plan/"`
	Scope  string `json:"scope,omitempty" jsonschema:"project (default), task, flow, or the key of a task of your family"`
	After  string `json:"after,omitempty" jsonschema:"only keys after this one"`
}

// ListedNote is a note without its value.
type ListedNote struct {
	Key       string    `json:"key"`
	Version   int64     `json:"version"`
	UpdatedAt time.Time `json:"updated_at"`
	By        string    `json:"by"`
	Size      int64     `json:"size"`
}

func listNotes(c *call, r store.Reader, in listNotesIn) ([]ListedNote, error) {
	scope, err := c.noteScope(r, in.Scope)
	if err == nil {
		err = coppice.ValidNotePrefix(in.Prefix)
	}
	if err != nil {
		return nil, err
	}
	all, err := r.Notes.List(store.NoteFilter{ProjectID: c.session.ProjectID, Scope: scope, Prefix: in.Prefix, After: in.After, Most: mostListed})
	out := make([]ListedNote, len(all))
	for i, n := range all {
		out[i] = ListedNote{n.Key, n.Version, n.At, n.By.String(), n.Size}
	}
	return out, err
}

// ownNote returns a note that the session can write: one of its project, its task or its
// flow.
func (c *call) ownNote(r store.Reader, scope, key string) (coppice.Note, error) {
	if !slices.Contains([]string{"", string(coppice.NotesOfProject), ownTask, ownFlow}, scope) {
		return coppice.Note{}, coppice.Errorf(coppice.EInvalid, "%s is not a valid scope to write", coppice.Quote(scope)).WithFix("use project, task or flow").WithField("scope")
	}
	of, err := c.noteScope(r, scope)
	return coppice.Note{ProjectID: c.session.ProjectID, Scope: of, Key: key}, err
}

// noteScope returns the notes that a session means. It can read those of its project,
// its task, its flow and its family's tasks. All others do not exist for it.
func (c *call) noteScope(r store.Reader, scope string) (coppice.NoteScope, error) {
	switch scope {
	case "", string(coppice.NotesOfProject):
		return coppice.NotesOfProject, nil
	case ownTask:
		return coppice.NotesOfTask(c.session.TaskID), nil
	case ownFlow:
		return c.flowNotes(r)
	}
	t, err := engine.Relative(r, c.session, scope)
	switch coppice.ErrorCode(err) {
	case "":
		return coppice.NotesOfTask(t.ID), nil
	case coppice.EInternal, coppice.EUnavailable:
		return "", err
	}
	return "", coppice.Errorf(coppice.EInvalid, "%s is not a valid scope", coppice.Quote(scope)).
		WithFix("use project, task, flow, or the key of a task that created yours or that yours created").WithField("scope")
}

// flowNotes returns the notes of the flow to which the session's task belongs: as a step
// of it, or because a step created the task.
func (c *call) flowNotes(r store.Reader) (coppice.NoteScope, error) {
	of, err := r.Tasks.Get(c.session.TaskID)
	for err == nil {
		if of.Step != nil {
			return coppice.NotesOfTask(of.Step.Flow), nil
		}
		if of.Parent == 0 {
			return "", coppice.Errorf(coppice.EInvalid, "your task does not belong to a flow").WithFix("use project or task").WithField("scope")
		}
		of, err = r.Tasks.Get(of.Parent)
	}
	return "", err
}

type watchNotesIn struct {
	Keys       []string `json:"keys,omitempty" jsonschema:"wait for all of these, at most 100"`
	Prefix     string   `json:"prefix,omitempty" jsonschema:"or wait for at least one key that starts with this"`
	UntilValue *string  `json:"until_value,omitempty" jsonschema:"wait until they have exactly this value"`
	Scope      string   `json:"scope,omitempty" jsonschema:"project (default), task, flow, or the key of a task of your family"`
	TimeoutMS  int64    `json:"timeout_ms,omitempty" jsonschema:"how long to wait, in milliseconds; the default is 300000"`
}

// WatchedNotes is the answer of watch_notes.
type WatchedNotes struct {
	Notes        []Note `json:"notes"` // those that are ready
	TimedOut     bool   `json:"timed_out,omitempty"`
	StillWaiting bool   `json:"still_waiting,omitempty"`
	Note         string `json:"note,omitempty"`
}

// watchNotes waits for notes. The time that is left is part of the answer, so that
// the call needs no memory.
func watchNotes(c *call, in watchNotesIn) (WatchedNotes, error) {
	if err := in.check(); err != nil {
		return WatchedNotes{}, err
	}
	w, out := noteWatch{watchNotesIn: in, project: c.session.ProjectID}, WatchedNotes{}
	ready, err := store.Read(c.ctx, c.cfg.Store, func(r store.Reader) (ok bool, err error) {
		if w.scope, err = c.noteScope(r, in.Scope); err != nil {
			return false, err
		}
		out.Notes, ok, err = w.ready(r)
		return ok, err
	})
	if err != nil || ready {
		return out, err
	}
	limit := time.Duration(in.TimeoutMS) * time.Millisecond
	own := &call{Server: c.Server, ctx: c.ctx, session: c.session, id: c.id}
	if limit <= c.cfg.Wait {
		ctx, cancel := context.WithTimeoutCause(c.ctx, limit, errTimeout)
		defer cancel()
		own.ctx = ctx
	}
	ready, err = own.wait(func(r store.Reader) (bool, error) {
		notes, ok, err := w.ready(r)
		if err == nil {
			out.Notes = notes
		}
		return ok, err
	}, w.topics()...)
	left := limit - c.cfg.Wait
	switch {
	case ready || err != nil && !errors.Is(context.Cause(own.ctx), errTimeout) || c.ctx.Err() != nil:
		return out, err
	case left <= 0:
		out.TimedOut, out.Note = true, "the time is over; notes has those that are ready"
	default:
		out.StillWaiting = true
		out.Note = fmt.Sprintf("not ready after %s; to wait longer, call again with timeout_ms %d", c.cfg.Wait, left.Milliseconds())
	}
	return out, nil
}

var errTimeout = errors.New("tools: the agent's own limit has passed")

// check completes and checks the arguments.
func (in *watchNotesIn) check() error {
	if in.TimeoutMS <= 0 {
		in.TimeoutMS = watchFor
	}
	in.TimeoutMS = min(in.TimeoutMS, (24 * time.Hour).Milliseconds())
	if (len(in.Keys) == 0) == (in.Prefix == "") {
		return coppice.Errorf(coppice.EInvalid, "watch_notes needs keys or a prefix, not both").WithFix("name the keys, or the beginning of keys")
	}
	if len(in.Keys) > mostWatched {
		return coppice.Errorf(coppice.EInvalid, "%d keys are too many, %d are allowed", len(in.Keys), mostWatched).WithFix("use a prefix").WithField("keys")
	}
	for _, key := range in.Keys {
		if err := coppice.ValidNoteKey(key); err != nil {
			return err
		}
	}
	return coppice.ValidNotePrefix(in.Prefix)
}

// noteWatch is what a call of watch_notes waits for.
type noteWatch struct {
	watchNotesIn
	project int64
	scope   coppice.NoteScope
}

func (w noteWatch) topics() []string {
	if w.Prefix != "" {
		return []string{store.TopicNotes(w.project, w.scope, w.Prefix[:strings.LastIndex(w.Prefix, "/")+1])}
	}
	topics := make([]string, len(w.Keys))
	for i, key := range w.Keys {
		topics[i] = store.TopicNote(w.project, w.scope, key)
	}
	return topics
}

// ready returns the notes that are as the session wants them, and whether these are
// enough.
func (w noteWatch) ready(r store.Reader) (out []Note, ok bool, err error) {
	keys, most := w.Keys, len(w.Keys)
	if w.Prefix != "" {
		all, err := r.Notes.List(store.NoteFilter{ProjectID: w.project, Scope: w.scope, Prefix: w.Prefix, Most: coppice.MaxNotes})
		if err != nil {
			return nil, false, err
		}
		for _, n := range all {
			if w.UntilValue == nil || n.Size == int64(len(*w.UntilValue)) {
				keys = append(keys, n.Key)
			}
		}
		most = 1
	}
	out, left := []Note{}, mostValues
	for _, key := range keys {
		n, err := r.Notes.Get(w.project, w.scope, key)
		if coppice.ErrorCode(err) == coppice.ENotFound {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		if w.UntilValue != nil && n.Value != *w.UntilValue {
			continue
		}
		seen := noteView(n)
		if left -= len(n.Value); left < 0 {
			seen.Value, seen.LeftOut = "", true
		}
		if out = append(out, seen); w.Prefix != "" && len(out) == mostListed {
			break
		}
	}
	return out, len(out) >= most, nil
}
