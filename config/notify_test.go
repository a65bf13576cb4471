package config_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/config"
)

func TestNotifyRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, at, says, fix string }{
		"unknown kind":          {"notify:\n  notifiers:\n    a: {kind: pager}\n", ":3:15: ", `"pager" is not a valid value for notify.notifiers entry.kind`, "desktop, slack"},
		"no kind":               {"notify:\n  notifiers:\n    phone: {to: [x]}\n", ":3:5: ", `"phone" is not a kind of notifier`, "set kind to one of: desktop"},
		"a bad name":            {"notify: {notifiers: {\"a b\": {kind: desktop}}}\n", ":1:22: ", "not a valid notifier name", ""},
		"no address":            {"notify: {notifiers: {slack: {}}}\n", ":1:22: ", "the notifier slack needs url", "url, or token and to"},
		"no channel":            {"notify: {notifiers: {slack: {token: SLACK}}}\n", ":1:22: ", "the notifier slack needs to", "url, or token and to"},
		"no topic":              {"notify: {notifiers: {ntfy: {token: NTFY}}}\n", ":1:22: ", "the notifier ntfy needs to", "to; and if necessary url, token, user"},
		"no signing secret":     {"notify: {notifiers: {webhook: {url: \"https://x.test/\"}}}\n", ":1:22: ", "the notifier webhook needs token", "url and token"},
		"no command":            {"notify: {notifiers: {a: {kind: program}}}\n", ":1:22: ", "the notifier a needs run", "has run"},
		"a field too many":      {"notify: {notifiers: {desktop: {run: make}}}\n", ":1:37: ", "the notifier desktop cannot have run", "has only timeout"},
		"channels of an url":    {"notify: {notifiers: {slack: {url: \"${secret:S}\", to: [a]}}}\n", ":1:54: ", "cannot have to", "remove it"},
		"a user without":        {"notify: {notifiers: {mail: {url: \"smtp://x\", from: a@b, to: [c@d], user: u}}}\n", ":1:74: ", "only one of user and token", "remove both"},
		"a password of nobody":  {"notify: {notifiers: {mail: {url: \"smtp://x\", from: a@b, to: [c@d], token: T}}}\n", ":1:22: ", "only one of user and token", "add the other one"},
		"a secret in the open":  {"notify: {notifiers: {slack: {url: \"https://hooks.example.org/abc\"}}}\n", ":1:35: ", "the address of the notifier slack is a secret", "coppice secret set"},
		"a password in an url":  {"notify: {notifiers: {ntfy: {to: [x], url: \"https://a:b@x.test/\"}}}\n", ":1:43: ", "contains a user or a password", "token"},
		"another scheme":        {"notify: {notifiers: {ntfy: {to: [x], url: \"ftp://x.test\"}}}\n", ":1:43: ", "not a valid address for a notifier of the kind ntfy", "https://host"},
		"no host":               {"notify: {notifiers: {mail: {url: \"smtp:x\", from: a@b, to: [c@d]}}}\n", ":1:34: ", "not a valid address", "smtps://host"},
		"a bad reference":       {"notify: {notifiers: {slack: {url: \"${secret:a b}\"}}}\n", ":1:35: ", "not a valid name of a secret", ""},
		"a secret in a command": {"notify: {notifiers: {program: {run: \"page ${secret:P}\"}}}\n", ":1:37: ", "a secret cannot be used in notify.notifiers entry.run", ""},
		"a reference as a name": {"notify: {notifiers: {telegram: {token: \"${secret:P}\", to: [\"1\"]}}}\n", ":1:40: ", "is the name of a secret", "without ${secret:}"},
		"a long timeout":        {"notify: {notifiers: {desktop: {timeout: 6m}}}\n", ":1:41: ", "longer than 5 minutes", "5m"},
		"nobody":                {"notify: {notifiers: {ntfy: {to: []}}}\n", ":1:33: ", "the list is empty", ""},
		"unknown notifier":      {"notify:\n  notifiers: {desktop: {}}\n  routes:\n    - {to: [desktop, phone]}\n", ":4:22: ", `there is no notifier "phone"`, "desktop"},
		"a route to nobody":     {"notify:\n  routes: [{priority: [urgent]}]\n", ":2:12: ", "needs to", "to: [phone]"},
		"a route to nothing":    {"notify:\n  routes: [{to: []}]\n", ":2:17: ", "the list is empty", ""},
		"bad hours":             {"notify: {notifiers: {desktop: {}}, routes: [{to: [desktop], hours: 8-18}]}\n", ":1:68: ", "not valid hours", "08:00-18:00"},
		"no time":               {"notify: {notifiers: {desktop: {}}, routes: [{to: [desktop], hours: \"08:00-08:00\"}]}\n", ":1:68: ", "not valid hours", ""},
		"bad priority":          {"notify: {notifiers: {desktop: {}}, routes: [{to: [desktop], priority: [high]}]}\n", ":1:72: ", `"high" is not a valid value`, "urgent, action, warning, info"},
		"bad kind of notice":    {"notify: {notifiers: {desktop: {}}, routes: [{to: [desktop], kinds: [landet]}]}\n", ":1:69: ", `did you mean "landed"?`, ""},
		"bad project":           {"notify: {notifiers: {desktop: {}}, routes: [{to: [desktop], projects: [A-]}]}\n", ":1:72: ", "not a valid task prefix", ""},
		"a bad address":         {"notify: {address: coppice.example.org}\n", ":1:19: ", "not a valid address", "https://host"},
		"a short pause":         {"notify: {pause: 10ms}\n", ":1:17: ", "too short", "1s"},
		"a long pause":          {"notify: {pause: 2d}\n", ":1:17: ", "longer than a day", "1d"},
		"a list":                {"notify: [phone]\n", ":1:9: ", "must be a mapping", "below notify.notifiers"},
	} {
		_, err := config.ParseUser("config.yaml", []byte(c.text))
		e := coppice.Public(err)
		if err == nil || !strings.HasPrefix(e.Cause, "config.yaml"+c.at) || !strings.Contains(e.Cause, c.says) || !strings.Contains(e.Fix, c.fix) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A repository names notifiers. It cannot say where messages go.
func TestNotifyOfAProject(t *testing.T) {
	t.Parallel()
	p, err := config.Parse("coppice.yaml", []byte("notify: [phone, team]\n"))
	if err != nil || !slices.Equal(p.Notify, []string{"phone", "team"}) {
		t.Errorf("%v, %v", p.Notify, err)
	}
	for text, fix := range map[string]string{
		"notify: {notifiers: {desktop: {}}}\n": "config.yaml in the user's configuration",
		"notify: []\n":                         "at least one name",
		"notify: [\"https://x.test\"]\n":       "letters",
		"notify: phone\n":                      "[phone]",
	} {
		if _, err := config.Parse("coppice.yaml", []byte(text)); err == nil || !strings.Contains(coppice.Public(err).Fix, fix) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNotifyIsRead(t *testing.T) {
	t.Parallel()
	u, err := config.ParseUser("config.yaml", []byte(`
notify:
  address: https://coppice.example.org
  pause: 5m
  notifiers:
    desktop: {}
    phone: {kind: ntfy, to: [my-topic], token: NTFY, timeout: 10s}
    team: {kind: slack, url: "${secret:SLACK_URL}"}
    post: {kind: mail, url: "smtp://mail.example.org:587", from: "Coppice <coppice@example.org>", to: [me@example.org], user: me, token: MAIL}
  routes:
    - {to: [phone], priority: [urgent]}
    - {to: [team, desktop], projects: [app], kinds: [question, landed], hours: "22:00-06:30"}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := coppice.NotifyPolicy{
		Address: "https://coppice.example.org", Pause: coppice.Duration(5 * time.Minute),
		Notifiers: map[string]coppice.Notifier{
			"desktop": {},
			"phone":   {Kind: "ntfy", To: []string{"my-topic"}, Token: "NTFY", Timeout: coppice.Duration(10 * time.Second)},
			"team":    {Kind: "slack", URL: "${secret:SLACK_URL}"},
			"post":    {Kind: "mail", URL: "smtp://mail.example.org:587", From: "Coppice <coppice@example.org>", To: []string{"me@example.org"}, User: "me", Token: "MAIL"},
		},
		Routes: []coppice.NotifyRoute{
			{To: []string{"phone"}, Priority: []coppice.Priority{coppice.PriorityUrgent}},
			{To: []string{"team", "desktop"}, Projects: []string{"app"}, Kinds: []string{"question", "landed"}, Hours: "22:00-06:30"},
		},
	}
	if diff := cmp.Diff(want, u.Notify); diff != "" {
		t.Error(diff)
	}
}
