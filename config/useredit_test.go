package config_test

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"coppice"
	"coppice/config"
)

const notifyText = `# mine
secrets: {SLACK: {env: SLACK}} # from the shell
notify:
  notifiers:
    desktop: {} # at home
    team:
      kind: slack
      url: "${secret:SLACK}"
  routes:
    - {to: [desktop]}
    - {to: [desktop, team], priority: [urgent]}
# end
`

func userSet(key, value string) config.Change {
	return config.Change{Key: key, Value: json.RawMessage(value)}
}

// A change of the user's configuration keeps the rest of the file and its mode. A refused
// one changes nothing.
func TestApplyUser(t *testing.T) {
	t.Parallel()
	_, dir := home(t)
	path := put(t, dir, notifyText, 0o600)
	read := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	_, src, err := config.LoadUser(dir)
	if err != nil {
		t.Fatal(err)
	}
	change := userSet("notify.notifiers.phone", `{"kind":"ntfy","to":["a-topic"]}`)
	want := strings.Replace(notifyText, "  routes:\n", "    phone: {kind: ntfy, to: [a-topic]}\n  routes:\n", 1)
	diff, err := config.PreviewUser(dir, change, src.Revision)
	if err != nil || !strings.Contains(diff, "--- config.yaml\n") || !strings.Contains(diff, "+    phone: {kind: ntfy, to: [a-topic]}\n") || read() != notifyText {
		t.Errorf("%v, the preview is\n%s\nof\n%s", err, diff, read())
	}
	u, err := config.ApplyUser(t.Context(), dir, change, src.Revision)
	if err != nil || u.Notify.Notifiers["phone"].To[0] != "a-topic" || read() != want {
		t.Fatalf("%v, the file is\n%s\nwant\n%s", err, read(), want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want the mode 0600", info, err)
	}
	if value, err := config.UserValue(u, "notify.notifiers.phone.to"); err != nil || string(value) != `["a-topic"]` {
		t.Errorf("%s, %v", value, err)
	}
	for _, c := range []struct {
		change config.Change
		rev    string
		code   coppice.Code
		says   string
	}{
		{userSet("notify.pause", `"5m"`), src.Revision, coppice.EConflict, "changed in the meantime"},
		{config.Change{Key: "notify.notifiers.team", Unset: true}, "", coppice.EConflict, "in route 2"},
		{config.Change{Key: "notify.notifiers.desktop", Unset: true}, "", coppice.EConflict, "in route 1, 2"},
		{userSet("notify.routes", `[{"to":["nobody"]}]`), "", coppice.EInvalid, `there is no notifier "nobody"`},
		{userSet("notify.notifiers.phone", `{"kind":"ntfy"}`), "", coppice.EInvalid, "needs to"},
		{userSet("notify.nope", `1`), "", coppice.EInvalid, "unknown key"},
	} {
		_, err := config.ApplyUser(t.Context(), dir, c.change, c.rev)
		_, previewed := config.PreviewUser(dir, c.change, c.rev)
		if coppice.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.says) || coppice.Public(err).Fix == "" || previewed == nil || previewed.Error() != err.Error() || read() != want {
			t.Errorf("%+v: %v, %v", c.change, err, previewed)
		}
	}
	if _, err := config.ApplyUser(t.Context(), dir, config.Change{Key: "notify.notifiers.phone", Unset: true}, ""); err != nil || read() != notifyText {
		t.Errorf("%v, the file is\n%s\nwant what it was", err, read())
	}
	put(t, dir, "notify:\n  pause: soon\n", 0o600)
	if _, err := config.ApplyUser(t.Context(), dir, change, ""); coppice.ErrorCode(err) != coppice.EInvalid || !strings.Contains(err.Error(), "config.yaml:2:10") {
		t.Errorf("a file that is invalid: %v", err)
	}
	put(t, dir, notifyText, 0o644)
	if _, err := config.ApplyUser(t.Context(), dir, change, ""); coppice.ErrorCode(err) != coppice.EForbidden || read() != notifyText {
		t.Errorf("a file of others: %v", err)
	}
}

// The first change creates the file. Changes of settings and of secrets at the same time
// lose nothing.
func TestChangeUserAtOnce(t *testing.T) {
	t.Parallel()
	s, dir := home(t)
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		all.Go(func() {
			if _, err := config.ApplyUser(t.Context(), dir, userSet("notify.notifiers."+name, `{"kind":"desktop"}`), ""); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := s.Set(t.Context(), strings.ToUpper(name), token, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if u, _, err := config.LoadUser(dir); err != nil || len(u.Notify.Notifiers) != 3 || len(u.Secrets) != 3 {
		t.Errorf("%+v, %v", u, err)
	}
}
