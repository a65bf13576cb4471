package http_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/control"
	"coppice/store"
)

func TestNotifiers(t *testing.T) {
	t.Parallel()
	var until time.Time
	var problem error
	b := setup(t, func(c *apihttp.Config) {
		c.ConfigProblem = func() error { return problem }
		c.Looking, c.Look = func() time.Time { return until }, func(at time.Time) { until = at }
	})
	if list, err := b.Client.Notifiers(b.Ctx); err != nil || len(list.Notifiers) != 0 || list.Pause != coppice.DefaultNotifyPause {
		t.Errorf("without notifiers: %+v, %v", list, err)
	}
	if _, err := b.Client.TestNotifiers(b.Ctx, nil); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("a test without notifiers: %v", err)
	}
	problem = coppice.Errorf(coppice.EInvalid, "config.yaml has mode 0644").WithFix("chmod 600 config.yaml")
	if _, err := b.Client.Notifiers(b.Ctx); err == nil || coppice.Public(err).Fix != "chmod 600 config.yaml" {
		t.Errorf("with a configuration that cannot be read: %v", err)
	}
	if _, err := b.Client.TestNotifiers(b.Ctx, nil); err == nil || coppice.Public(err).Fix != "chmod 600 config.yaml" {
		t.Errorf("a test with a configuration that cannot be read: %v", err)
	}
	problem = nil
	b.Notify = coppice.NotifyPolicy{
		Notifiers: map[string]coppice.Notifier{"phone": {Kind: "ntfy", To: []string{"a-secret-topic"}, Token: "NTFY"}, "team": {Kind: "slack", URL: "${secret:SLACK}"}},
		Routes:    []coppice.NotifyRoute{{To: []string{"phone"}, Projects: []string{"app"}, Hours: "08:00-18:00"}, {To: []string{"phone"}, Priority: []coppice.Priority{"info"}}},
	}
	page, err := b.Client.TestNotifiers(b.Ctx, nil)
	b.Must(err)
	if len(page.Notifications) != 2 || page.Notifications[0].Notifier != "phone" || page.Notifications[1].State != "sending" || !page.Notifications[1].Test {
		t.Fatalf("%+v", page)
	}
	if _, err := b.Client.TestNotifiers(b.Ctx, []string{"phon"}); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("a test of an unknown notifier: %v", err)
	}
	id := page.Notifications[0].ID
	ended := make(chan api.Notification, 1)
	go func() {
		n, err := b.Client.WaitNotification(b.Ctx, id)
		if err != nil {
			t.Error(err)
		}
		ended <- n
	}()
	b.Update(func(tx store.Tx) error {
		n, err := tx.Notifications.ByKey(id)
		if err != nil {
			return err
		}
		n.Outcome, n.EndedAt, n.Failure, n.Tries = coppice.NotificationFailed, b.Clock.Now(), coppice.Failf(coppice.ClassAuth, "refused", "set NTFY"), 1
		return tx.Notifications.Put(&n)
	})
	if n := <-ended; n.State != "failed" || n.Failure != "refused" || n.Fix != "set NTFY" || n.EndedAt.IsZero() {
		t.Errorf("%+v", n)
	}
	list, err := b.Client.Notifiers(b.Ctx)
	b.Must(err)
	phone, team := list.Notifiers[0], list.Notifiers[1]
	if phone.Kind != "ntfy" || len(phone.Routes) != 2 || phone.Routes[0].Hours != "08:00-18:00" || len(phone.Routes[0].Priority) != 2 || phone.Last == nil || phone.Last.State != "failed" ||
		len(team.Routes) != 0 || team.Last != nil || list.Looking {
		t.Errorf("%+v", list)
	}
	first, err := b.Client.Notifications(b.Ctx, client.NotificationQuery{Limit: 1})
	b.Must(err)
	rest, err := b.Client.Notifications(b.Ctx, client.NotificationQuery{Limit: 1, Before: first.Next})
	b.Must(err)
	if len(first.Notifications) != 1 || first.Notifications[0].Notifier != "team" || rest.Notifications[0].ID != id || rest.Next != 0 {
		t.Errorf("pages %+v, %+v", first, rest)
	}
	if page, err := b.Client.Notifications(b.Ctx, client.NotificationQuery{Notifier: "phone"}); err != nil || len(page.Notifications) != 1 {
		t.Errorf("of one: %+v, %v", page, err)
	}
	if _, err := b.Client.WaitNotification(b.Ctx, "none"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("unknown message: %v", err)
	}
	p, err := b.Client.Look(b.Ctx)
	b.Must(err)
	if list, err = b.Client.Notifiers(b.Ctx); err != nil || !list.Looking || !p.Until.Equal(until) || until.Sub(b.Clock.Now()) != 45*time.Second {
		t.Errorf("%+v, %v", list, err)
	}
}

// The user's notifiers are changed in the file, which keeps everything else, and used
// immediately. No answer contains a value of a secret, or any other part of the file.
func TestNotifySettings(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".config", "coppice", "config.yaml")
	put := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var b *apitest.Bundle
	b = setup(t, func(c *apihttp.Config) {
		c.Settings = &control.Settings{Limits: control.Limits{Environ: []string{"HOME=" + home}}, UseNotify: func(p coppice.NotifyPolicy) { b.Notify = p }}
	})
	empty, err := b.Client.NotifySettings(b.Ctx)
	b.Must(err)
	if empty.Exists || empty.Path != path || len(empty.Kinds) != len(coppice.NotifyKinds) || empty.Kinds[1].Name != "slack" || !empty.Kinds[1].Secret {
		t.Errorf("without a file: %+v", empty)
	}
	if got := empty.Kinds[1].Fields; !slices.Equal(got, []string{"url", "token", "to", "timeout"}) {
		t.Errorf("slack has %v", got)
	}
	for _, k := range empty.Keys {
		if k.Secret != (k.Key == "notify.notifiers.*.token") {
			t.Errorf("%s: %+v", k.Key, k)
		}
	}
	const before = "# mine\nsecrets: {A: {command: [print, private-argument]}}\nhooks: {landed: [{run: private-hook}]}\nnotify:\n  pause: 2m # calm\n"
	put(before)
	first, err := b.Client.NotifySettings(b.Ctx)
	b.Must(err)
	if text := string(coppice.Raw(first)); !first.Exists || strings.Contains(text, "private") || !slices.Equal(first.Secrets, []string{"A"}) {
		t.Errorf("%s", text)
	}
	i := slices.IndexFunc(first.Keys, func(k api.ConfigKey) bool { return k.Key == "notify.pause" })
	if i < 0 || string(first.Keys[i].Value) != `"2m"` || first.Keys[i].Line != 5 {
		t.Errorf("keys %+v", first.Keys)
	}
	change := api.ConfigChange{Key: "notify.notifiers.team", Value: []byte(`{"kind":"slack","token":"SLACK","to":["#builds"]}`), Revision: first.Revision, DryRun: true}
	shown, err := b.Client.SetNotify(b.Ctx, change)
	b.Must(err)
	if now, err := os.ReadFile(path); err != nil || string(now) != before || !strings.Contains(shown.Diff, "+  notifiers: {team: {kind: slack, token: SLACK, to: [\"#builds\"]}}\n") || len(b.Notify.Notifiers) != 0 {
		t.Errorf("a dry run: %v, %q, %s", err, shown.Diff, now)
	}
	change.DryRun = false
	saved, err := b.Client.SetNotify(b.Ctx, change)
	b.Must(err)
	if now, err := os.ReadFile(path); err != nil || string(now) != before+"  notifiers: {team: {kind: slack, token: SLACK, to: [\"#builds\"]}}\n" || !slices.Equal(saved.Missing["team"], []string{"SLACK"}) {
		t.Errorf("%v, %+v, %s", err, saved.Missing, now)
	}
	if page, err := b.Client.TestNotifiers(b.Ctx, []string{"team"}); err != nil || len(page.Notifications) != 1 {
		t.Errorf("a test of the new notifier: %+v, %v", page, err)
	}
	if _, err = b.Client.SetNotify(b.Ctx, api.ConfigChange{Key: "notify.routes", Value: []byte(`[{"to":["team"]}]`)}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		change      api.ConfigChange
		code        coppice.Code
		field, says string
	}{
		{change, coppice.EConflict, "revision", "changed in the meantime"},
		{api.ConfigChange{Key: "listen", Value: []byte(`"127.0.0.1:1"`)}, coppice.EInvalid, "key", "not a key below notify"},
		{api.ConfigChange{Key: "notify", Unset: true}, coppice.EInvalid, "key", "not a key below notify"},
		{api.ConfigChange{Key: "notify.pause"}, coppice.EInvalid, "value", "either a value or unset"},
		{api.ConfigChange{Key: "notify.notifiers.team", Unset: true}, coppice.EConflict, "", "in route 1"},
		{api.ConfigChange{Key: "notify.notifiers.team", Value: []byte(`{"kind":"slack","url":"https://hooks.example.org/private"}`)}, coppice.EInvalid, "notify.notifiers.team.url", "is a secret"},
		{api.ConfigChange{Key: "notify.routes", Value: []byte(`[{"to":["team"]},{"to":["team"],"hours":"8-9"}]`)}, coppice.EInvalid, "notify.routes[1].hours", "not valid hours"},
		{api.ConfigChange{Key: "notify.routes", Value: []byte(`[{"to":["nobody"]}]`)}, coppice.EInvalid, "notify.routes[0].to[0]", "there is no notifier"},
	} {
		_, err := b.Client.SetNotify(b.Ctx, c.change)
		if e := coppice.Public(err); e == nil || e.Code != c.code || e.Field != c.field || !strings.Contains(e.Cause, c.says) || e.Fix == "" || strings.Contains(e.Cause, "private") || strings.Contains(e.Cause, "config.yaml:") {
			t.Errorf("%+v: %+v", c.change, e)
		}
	}
	put("notify: {notifiers: {team: {kind: slack, url: https://hooks.example.org/private}}}\n")
	_, err = b.Client.NotifySettings(b.Ctx)
	_, changed := b.Client.SetNotify(b.Ctx, api.ConfigChange{Key: "notify.pause", Unset: true})
	for _, err := range []error{err, changed} {
		if e := coppice.Public(err); e == nil || e.Code != coppice.EInvalid || !strings.Contains(e.Cause, "config.yaml:1:") || strings.Contains(e.Cause, "private") || e.Fix == "" {
			t.Errorf("a file that is invalid: %+v", e)
		}
	}
}
