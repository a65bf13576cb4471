package http_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"coppice"
	"coppice/api/client"
	"coppice/store"
)

func failed(at time.Time) func(*coppice.Task) {
	return func(t *coppice.Task) {
		t.Stage, t.Wait, t.Next, t.Outcome, t.StageAt, t.EndedAt = coppice.StageEnded, nil, nil, coppice.OutcomeFailed, at, at
		t.Failure = &coppice.Failure{Class: coppice.ClassUnknown, Text: "it broke"}
	}
}

func TestInbox(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	b.Project("/src/lib")
	b.Task("app", coppice.NewTask{Title: "first"})
	b.Task("lib", coppice.NewTask{Title: "second"})
	b.Change("app-1", failed(b.Clock.Now()))
	s := b.Session("lib-1", coppice.SessionWaiting, nil)
	b.Change("lib-1", func(t *coppice.Task) { t.Stage, t.Wait, t.Sessions = coppice.StageSession, nil, 1 })
	b.Update(func(tx store.Tx) error {
		return tx.Questions.Put(&coppice.Question{TaskID: s.TaskID, SessionID: s.ID, Text: "which?", Options: []string{"a"}, AskedAt: b.Clock.Now()})
	})
	see := func(project string, all bool, want ...string) {
		t.Helper()
		in, err := b.Client.Inbox(b.Ctx, client.InboxQuery{Project: project, All: all})
		b.Must(err)
		var ids []string
		for _, e := range in.Entries {
			ids = append(ids, e.ID)
		}
		if len(ids) != len(want) {
			t.Fatalf("inbox %v, want %v", ids, want)
		}
		for i := range want {
			if ids[i] != want[i] {
				t.Errorf("inbox %v, want %v", ids, want)
			}
		}
		if st, err := b.Client.Status(b.Ctx, project); err != nil || !all && st.Inbox != len(want) {
			t.Errorf("the status has %d entries, %v", st.Inbox, err)
		}
	}
	see("", false, "question/lib-1/1", "failed/app-1")
	see("app", false, "failed/app-1")
	e, err := b.Client.Snooze(b.Ctx, "failed/app-1", coppice.NewSnooze{For: coppice.Duration(time.Hour)})
	b.Must(err)
	if !e.SnoozedUntil.Equal(b.Clock.Now().Add(time.Hour)) {
		t.Errorf("snoozed %+v", e)
	}
	see("", false, "question/lib-1/1")
	see("", true, "question/lib-1/1", "failed/app-1")
	if _, err := b.Client.Snooze(b.Ctx, "question/lib-1/1", coppice.NewSnooze{Event: "any"}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("snoozing a question: %v", err)
	}
	b.Clock.Move(time.Hour)
	see("", false, "question/lib-1/1", "failed/app-1")
	_, err = b.Client.Snooze(b.Ctx, "failed/app-1", coppice.NewSnooze{Until: b.Clock.Now().Add(time.Minute)})
	b.Must(err)
	_, err = b.Client.Wake(b.Ctx, "failed/app-1")
	b.Must(err)
	see("", false, "question/lib-1/1", "failed/app-1")
	if _, err := b.Client.Wake(b.Ctx, "nothing/app-1"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("waking nothing: %v", err)
	}
	refuses(t, b, http.StatusUnprocessableEntity, "POST", "/api/v1/inbox/failed%2Fapp-1/snooze", `{"for":"soon"}`)
	refuses(t, b, http.StatusUnprocessableEntity, "POST", "/api/v1/inbox/failed%2Fapp-1/snooze", `{"event":"sneezed"}`)
}

// Every action of an entry is a request that the server accepts.
func TestInboxActionsWork(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "first")
	for {
		b.Change("app-1", failed(b.Clock.Now()))
		in, err := b.Client.Inbox(b.Ctx, client.InboxQuery{})
		b.Must(err)
		if len(in.Entries) == 0 {
			break // the last action archives it
		}
		e := in.Entries[0]
		for _, a := range e.Actions {
			b.Update(func(tx store.Tx) error { // forget what the last action requested
				asks, err := tx.Asks.AllOpen()
				for _, x := range asks {
					x.SettledAt = b.Clock.Now()
					if err := tx.Asks.Put(&x); err != nil {
						return err
					}
				}
				return err
			})
			b.Change("app-1", failed(b.Clock.Now()))
			body := map[string]any{}
			if len(a.Body) > 0 {
				b.Must(json.Unmarshal(a.Body, &body))
			}
			if a.Text != "" {
				body[a.Text] = "now"
			}
			if resp, text := call(t, b, a.Method, "/api/v1"+a.Route, string(coppice.Raw(body))); resp.StatusCode != http.StatusOK {
				t.Errorf("%s %s: %d %s", a.Method, a.Route, resp.StatusCode, text)
			}
		}
	}
}
