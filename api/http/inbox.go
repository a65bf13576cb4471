package http

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

// Inbox hides entries of the inbox, and shows them again. It keeps what people have
// seen.
type Inbox interface {
	Snooze(ctx context.Context, id string, n coppice.NewSnooze) (coppice.InboxEntry, error)
	Wake(ctx context.Context, id string) (coppice.InboxEntry, error)
	// Seen says that the person has seen a task up to an event; 0 means the newest.
	Seen(ctx context.Context, key string, seq int64) (coppice.Task, error)
}

type inboxIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only this project"`
	All     bool   `query:"all" doc:"Also list entries that are snoozed"`
	MarksIn
}

// EntryIn names an entry of the inbox. It is exported for the same reason as
// ProjectIn.
type EntryIn struct {
	ID string `path:"id" maxLength:"300" doc:"The id of an entry, such as failed/app-12, with its slashes escaped"`
}

type snoozeIn struct {
	EntryIn
	Body coppice.NewSnooze
}

func (s *Server) inboxRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/inbox", id: "list-inbox", tag: "inbox", about: "List what needs a person, with the actions that help"}, s.listInbox)
	add(s, a, op{method: http.MethodPost, path: "/inbox/{id}/snooze", id: "snooze-entry", tag: "inbox",
		about: "Hide an entry of the inbox until a time or an event"}, func(ctx context.Context, in *snoozeIn) (coppice.InboxEntry, error) {
		return s.cfg.Inbox.Snooze(ctx, in.ID, in.Body)
	})
	add(s, a, op{method: http.MethodDelete, path: "/inbox/{id}/snooze", id: "wake-entry", tag: "inbox",
		about: "Show an entry of the inbox again"}, func(ctx context.Context, in *EntryIn) (coppice.InboxEntry, error) {
		return s.cfg.Inbox.Wake(ctx, in.ID)
	})
}

func (s *Server) listInbox(ctx context.Context, in *inboxIn) (api.Inbox, error) {
	return reuse(ctx, &s.answers, fmt.Sprintf("inbox %+v", *in), func(ctx context.Context) (out api.Inbox, err error) {
		err = s.cfg.Store.View(ctx, func(r store.Reader) error {
			project, err := projectID(r, in.Project)
			if err == nil {
				out, err = s.inbox(r, project, in)
			}
			return err
		})
		return out, err
	})
}

// inbox returns the entries of a project, or of all projects for 0. With marks, it has
// only entries of tasks that have them.
func (s *Server) inbox(r store.Reader, project int64, in *inboxIn) (api.Inbox, error) {
	out := api.Inbox{Entries: []coppice.InboxEntry{}}
	f, err := engine.LoadInbox(r, s.cfg.Now(), project)
	if err != nil {
		return out, err
	}
	fit, err := in.keys(r, f.Tasks)
	out.More = f.More
	for _, e := range engine.Inbox(f) {
		if in.MarksIn != (MarksIn{}) && !fit[e.Task] && !slices.ContainsFunc(e.Tasks, func(key string) bool { return fit[key] }) {
			continue
		}
		if e.Snoozed {
			out.Snoozed++
		}
		if in.All || !e.Snoozed {
			out.Entries = append(out.Entries, e)
		}
	}
	return out, err
}
