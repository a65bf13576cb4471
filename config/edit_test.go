package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

func set(key, value string) Change { return Change{Key: key, Value: json.RawMessage(value)} }

func TestEdit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, from string
		change     Change
		to         string
	}{
		{"a new file", "", set("limits.sessions", "3"), "limits: {sessions: 3}\n"},
		{"comments only", "# why\n", set("base", `"main"`), "# why\nbase: main\n"},
		{"no line break at the end", "base: main", set("limits.sessions", "3"), "base: main\nlimits: {sessions: 3}"},
		{"a value", "base: main # the trunk\nchecks: [a]\n", set("base", `"dev"`), "base: dev # the trunk\nchecks: [a]\n"},
		{"text in quotes", "base: \"main\"   # x\n", set("base", `"dev"`), "base: dev   # x\n"},
		{"below, in a block", "limits:\n  sessions: 5 # many\n\n  # memory\n  memory: 80%\nbase: main\n", set("limits.sessions", "7"), "limits:\n  sessions: 7 # many\n\n  # memory\n  memory: 80%\nbase: main\n"},
		{"one more in a block", "limits:\n  sessions: 5\n\n# the base\nbase: main\n", set("limits.memory", `"70%"`), "limits:\n  sessions: 5\n  memory: 70%\n\n# the base\nbase: main\n"},
		{"one more in brackets", "limits: {sessions: 5} # few\n", set("limits.memory", `"70%"`), "limits: {sessions: 5, memory: 70%} # few\n"},
		{"one more in brackets over lines", "limits: {\n  sessions: 5,\n}\n", set("limits.sessions", "6"), "limits: {\n  sessions: 6,\n}\n"},
		{"in brackets", "land: {how: queue, strategy: squash}\n", set("land.how", `"branch"`), "land: {how: branch, strategy: squash}\n"},
		{"a list below", "checks: # all\n  - make lint\n  # and\n  - make test\n\nbase: main\n", set("checks", `["make all", "x: y"]`), "checks: [make all, \"x: y\"] # all\n\nbase: main\n"},
		{"a list below, not further in", "checks:\n- a\n- b\nbase: main\n", set("checks", `["c"]`), "checks: [c]\nbase: main\n"},
		{"an empty key", "land:\nbase: main\n", set("land.push", "true"), "land: {push: true}\nbase: main\n"},
		{"an empty key with a comment", "land: # how\nbase: main\n", set("land.push", "true"), "land: {push: true} # how\nbase: main\n"},
		{"an empty mapping", "land: {}\n", set("land.push", "true"), "land: {push: true}\n"},
		{"an empty file in brackets", "{}\n", set("land.push", "true"), "{land: {push: true}}\n"},
		{"a mapping by name", "limits:\n  per_agent:\n    one: 1\n", set("limits.per_agent.two", "2"), "limits:\n  per_agent:\n    one: 1\n    two: 2\n"},
		{"a literal", "workspace:\n  setup:\n    - |\n      a\n\n      b\n  ports: 1\n", set("workspace.setup", `["c"]`), "workspace:\n  setup: [c]\n  ports: 1\n"},
		{"line breaks of Windows", "base: main\r\nchecks:\r\n  - a\r\n", set("limits.sessions", "3"), "base: main\r\nchecks:\r\n  - a\r\nlimits: {sessions: 3}\r\n"},
		{"a mark at the beginning", "\uFEFFbase: main\n", set("base", `"dev"`), "\uFEFFbase: dev\n"},
		{"the same again", "checks:\n  - a\n", set("checks", `["a"]`), "checks:\n  - a\n"},
		{"a mapping as a whole", "land:\n  # first\n  how: queue\n  push: true\nbase: main\n", set("land", `{"how": "branch"}`), "land: {how: branch}\nbase: main\n"},
		{"quoted keys", "\"limits\": {\"sessions\": 5}\n", set("limits.sessions", "4"), "\"limits\": {\"sessions\": 4}\n"},
		{"tracks", "tracks:\n  - {name: core, default: true}\n", set("tracks", `[{"name": "a", "limit": 2}, {"name": "b"}]`), "tracks: [{name: a, limit: 2}, {name: b}]\n"},
		{"an agent", "agents:\n  mine: {protocol: command, command: [./a.sh]}\n", set("agents.mine.args", `["-q"]`), "agents:\n  mine: {protocol: command, command: [./a.sh], args: [\"-q\"]}\n"},
		{"duration", "health: {stalled: 5m}\n", set("health.stalled", `"90s"`), "health: {stalled: 90s}\n"},

		{"unset", "base: main\nchecks: [a]\n", Change{Key: "base", Unset: true}, "checks: [a]\n"},
		{"unset a list below", "# the base\nbase: main\nchecks:\n  - a # x\n  - b\n# end\n", Change{Key: "checks", Unset: true}, "# the base\nbase: main\n# end\n"},
		{"unset the last one of a block", "land:\n  push: true\nbase: main\n", Change{Key: "land.push", Unset: true}, "base: main\n"},
		{"unset one of a block", "land:\n  push: true # yes\n  how: branch\n", Change{Key: "land.push", Unset: true}, "land:\n  how: branch\n"},
		{"unset the first in brackets", "land: {push: true, how: branch}\n", Change{Key: "land.push", Unset: true}, "land: {how: branch}\n"},
		{"unset the last in brackets", "land: {push: true, how: branch} # x\n", Change{Key: "land.how", Unset: true}, "land: {push: true} # x\n"},
		{"unset the only one in brackets", "land: {push: true} # x\nbase: a\n", Change{Key: "land.push", Unset: true}, "base: a\n"},
		{"unset what is not set", "base: a\n", Change{Key: "land.push", Unset: true}, "base: a\n"},
		{"unset all", "base: a\n", Change{Key: "base", Unset: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Edit(File, []byte(c.from), c.change)
			if err != nil || string(got) != c.to {
				t.Errorf("%v\n got %q\nwant %q", err, got, c.to)
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	const file = "# mine\nbase: main\nhealth:\n  timeout: 2h\n"
	for _, c := range []struct {
		change Change
		as     string // the file that is refused in the same words; or
		says   string // what is said
	}{
		{set("limits.sessions", "0"), file + "limits: {sessions: 0}\n", ""},
		{set("limits.sessions", `"many"`), file + "limits: {sessions: many}\n", ""},
		{set("base", `"no good"`), strings.Replace(file, "main", "no good", 1), ""},
		{set("land.how", `"quue"`), file + "land: {how: quue}\n", ""},
		{set("health.long", `"3h"`), file + "  long: 3h\n", ""},
		{set("checks", `"make test"`), file + "checks: make test\n", ""},
		{set("checks", `[""]`), file + "checks: [\"\"]\n", ""},
		{set("workspace.copy", `["../x"]`), file + "workspace: {copy: [\"../x\"]}\n", ""},
		{set("tracks", `[]`), file + "tracks: []\n", ""},
		{set("agent.fallback", `["a"]`), file + "agent: {fallback: [a]}\n", ""},
		{set("land", `{"hw": "queue"}`), file + "land: {hw: queue}\n", ""},
		{set("nope", "1"), "", `unknown key "nope"`},
		{set("limts.sessions", "1"), "", `did you mean "limits.sessions"?`},
		{set("limts.nope", "1"), "", `did you mean "limits"?`},
		{set("limits.sesions", "1"), "", `did you mean "limits.sessions"?`},
		{set("base.x", "1"), "", "no keys below"},
		{set("", "1"), "", "unknown key"},
		{set("limits.per_agent.a/b", "1"), "", "not a valid agent name"},
		{set("agent.roles.cook", `"a"`), "", "unknown key"},
		{set("base", "null"), "", "null is not a valid value"},
		{set("base", ""), "", "not valid JSON"},
		{set("base", "{"), "", "not valid JSON"},
		{set("base", `"a" "b"`), "", "not valid JSON"},
	} {
		got, err := Edit(File, []byte(file), c.change)
		var e *coppice.Error
		if !errors.As(err, &e) || e.Code != coppice.EInvalid || e.Fix == "" || got != nil {
			t.Errorf("%+v: %v", c.change, err)
			continue
		}
		if c.as == "" {
			if !strings.Contains(e.Cause, c.says) {
				t.Errorf("%s: %v", c.change.Key, e)
			}
			continue
		}
		if _, want := Parse(File, []byte(c.as)); want == nil || want.Error() != err.Error() {
			t.Errorf("%s %s\n got %v\nwant %v", c.change.Key, c.change.Value, err, want)
		}
	}
	if _, err := Edit(File, []byte("base: [\n"), set("base", `"a"`)); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a broken file: %v", err)
	}
}

// values are some good values of keys of every form.
var values = map[string][]string{
	"base": {`"main"`, `"team/x"`}, "limits.sessions": {"1", "99"}, "limits.memory": {`"50%"`}, "limits.per_agent": {`{"a": 1, "b": 2}`}, "limits.per_agent.a": {"3"},
	"agent.use": {`"mine"`}, "agent.roles.fix": {`"other"`}, "checks": {`["make test"]`, `["a: b", "# c", "d \"e\"", "f 'g'", "h, [i]", "{j}"]`, `[]`},
	"workspace.setup": {`["x\ny"]`, `["- a"]`}, "workspace.ports": {"0", "3"}, "verify.attempts": {"1"}, "verify.browser": {"true", "false"}, "retry.backoff": {`"1m30s"`, `"20s"`},
	"health.timeout": {`"5h"`}, "land.how": {`"branch"`, `"queue"`}, "land": {`{"how": "branch", "push": true}`}, "land.push": {"true"}, "trash.keep": {`[".env*"]`},
	"tracks": {`[{"name": "x"}]`}, "budget.task": {`"5 USD"`, `"2.5 USD"`}, "prices.m": {`{"input": "2 USD", "output": "10 USD"}`}, "critical_patterns": {`[{"match": "a|b", "label": "x: y"}]`},
	"mcp.t": {`{"url": "http://127.0.0.1:1/x"}`}, "permissions.rules": {`[{"tool": "run", "match": "git push*", "do": "deny"}]`},
}

// userValues are some good values of keys of the user's configuration.
var userValues = map[string][]string{
	"listen": {`"127.0.0.1:4040"`}, "keep.output": {`"30d"`}, "limits.checks": {"2"}, "webhooks.listen": {`"127.0.0.1:4041"`}, "secrets.A": {`{"env": "A"}`, `{"file": "secrets/A"}`},
	"notify.pause": {`"5m"`, `"30s"`}, "notify.address": {`"https://coppice.example.org"`}, "notify.routes": {`[{"to": ["desktop"]}]`, `[{"to": ["desktop"], "priority": ["urgent"], "hours": "22:00-06:00"}, {"to": ["desktop"], "projects": ["app"], "kinds": ["landed"]}]`},
	"notify.notifiers.phone": {`{"kind": "ntfy", "to": ["a topic", "${secret:TOPIC}"]}`, `{"kind": "program", "run": "echo \"$COPPICE_TITLE\" # {x}: 'y'"}`},
	"notify.notifiers.team":  {`{"kind": "slack", "url": "${secret:SLACK}"}`, `{"kind": "slack", "token": "SLACK", "to": ["#builds"], "timeout": "10s"}`},
}

// Keys are set and unset in any order, in files of any style. The last value is
// read back, and lines about other keys do not change.
func TestEditAnything(t *testing.T) {
	t.Parallel()
	editAnything(t, project, values, []string{
		"", "# only words\n", "---\n# begin\nbase: main\n",
		"# top\nbase: main   # the trunk\n\nlimits:\n    # how many\n    sessions: 4\n    per_agent: {a: 1}\n\nchecks:\n- make lint # quick\n- |\n  make\n  test\nland: {how: queue, strategy: squash}\n\n# bottom\n",
		"workspace:\n  setup:\n    - npm ci\n  ports: 2\nverify: {attempts: 2}\ntracks:\n  - name: core\n    default: true\n    # few\n    limit: 2\n  - name: docs\nhealth:\n  long: 30m\n",
		"checks: [\n  a,   # first\n  \"b: c\",\n]\nagent: {use: mine}\r\nmcp:\n  t:\n    url: http://127.0.0.1:1/\n",
	})
}

func TestEditAnythingOfTheUser(t *testing.T) {
	t.Parallel()
	editAnything(t, user, userValues, []string{
		"# mine\nnotify:\n  # at home\n  notifiers:\n    desktop: {} # here\n    post: # mail\n      kind: mail\n      url: smtps://mail.example.org\n      from: a@example.org # me\n      to:\n        - b@example.org\n  pause: 2m # calm\n\n# keys\nsecrets:\n  B: {env: B} # shell\n# end\n",
		"notify: {notifiers: {desktop: {}, phone: {kind: ntfy, to: [a]}}, pause: 1m} # all\nkeep:\n  output: 10d\n# end\n",
		"secrets: {A: {env: A}}\r\nnotify:\r\n  notifiers:\r\n    desktop: {kind: desktop}\r\n",
	})
}

func editAnything(t *testing.T, f form, values map[string][]string, starts []string) {
	names := slices.Sorted(func(yield func(string) bool) {
		for k := range values {
			if !yield(k) {
				return
			}
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		text := []byte(rapid.SampledFrom(starts).Draw(rt, "file"))
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			key := rapid.SampledFrom(names).Draw(rt, "key")
			c := Change{Key: key, Unset: rapid.IntRange(0, 3).Draw(rt, "unset") == 0}
			if !c.Unset {
				c.Value = json.RawMessage(rapid.SampledFrom(values[key]).Draw(rt, "value"))
			}
			after, err := edit(f, File, text, c)
			if err != nil {
				rt.Fatalf("%+v of\n%s\n%v", c, text, err)
			}
			edited(rt, f, text, after, c)
			text = after
		}
	})
}

func edited(rt *rapid.T, f form, before, after []byte, c Change) {
	p, err := newDecoder(File, after).read(f)
	if err != nil {
		rt.Fatalf("%+v made\n%s\n%v", c, after, err)
	}
	if !c.Unset {
		var want any
		if err := json.Unmarshal(c.Value, &want); err != nil {
			rt.Fatal(err)
		}
		raw, err := valueOf(f, p, c.Key)
		if err != nil {
			rt.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(raw, &got); err != nil {
			rt.Fatal(err)
		}
		if !holds(got, want) {
			rt.Fatalf("%s is %s, not %s, in\n%s", c.Key, raw, c.Value, after)
		}
	}
	// Lines that do not mention the key's topmost name are all kept, in their
	// order.
	top, _, _ := strings.Cut(c.Key, ".")
	rest := slices.Collect(strings.Lines(string(after)))
	inside := false
	for line := range strings.Lines(string(before)) {
		if line[0] != ' ' && line[0] != '-' && line[0] != ']' && line[0] != '#' && line[0] != '\n' && line[0] != '\r' {
			inside = strings.HasPrefix(line, top+":")
		}
		if inside {
			continue
		}
		at := slices.Index(rest, line)
		if at < 0 {
			rt.Fatalf("%+v: the line %q is gone from\n%s\nwhich became\n%s", c, line, before, after)
		}
		rest = rest[at+1:]
	}
}

// holds reports whether a value contains the expected one. The rest can be there
// by default.
func holds(got, want any) bool {
	m, ok := want.(map[string]any)
	if !ok {
		if l, isList := want.([]any); isList && len(l) > 0 {
			g, ok := got.([]any)
			if !ok || len(g) != len(l) {
				return false
			}
			for i := range l {
				if !holds(g[i], l[i]) {
					return false
				}
			}
			return true
		}
		return equal(got, want) || reflect.DeepEqual(got, want)
	}
	g, ok := got.(map[string]any)
	for name, v := range m {
		if !ok || !holds(g[name], v) {
			return false
		}
	}
	return true
}

func TestApply(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	read := func() string {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(b)
	}
	_, src, err := Load(dir)
	if err != nil || src.Revision == "" {
		t.Fatal(src, err)
	}
	if p, err := Apply(dir, set("limits.sessions", "3"), src.Revision, nil, nil); err != nil || p.Limits.Sessions != 3 || read() != "limits: {sessions: 3}\n" {
		t.Fatalf("%v %q", err, read())
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(dir, set("limits.sessions", "4"), src.Revision, nil, nil); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("an old revision: %v", err)
	}
	refused := coppice.Errorf(coppice.EInvalid, "no")
	if _, err := Apply(dir, set("limits.sessions", "4"), "", func(coppice.Policy) error { return refused }, nil); !errors.Is(err, refused) {
		t.Errorf("not accepted: %v", err)
	}
	seen := ""
	if _, err := Apply(dir, set("limits.sessions", "4"), "", nil, func(coppice.Policy) error { seen = read(); return refused }); !errors.Is(err, refused) || seen != "limits: {sessions: 4}\n" {
		t.Errorf("not taken in: %v %q", err, seen)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(dir, set("workspace.copy", `["out/x"]`), "", nil, nil); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a path that leaves through a link: %v", err)
	}
	if read() != "limits: {sessions: 3}\n" {
		t.Errorf("a refused change left %q", read())
	}
	if _, err := Apply(dir, Change{Key: "limits.sessions", Unset: true}, "", nil, nil); err != nil || read() != "" {
		t.Errorf("%v %q", err, read())
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}

	if err := os.Rename(path, filepath.Join(dir, "real.yaml")); err != nil {
		t.Fatal(err)
	}
	for target, code := range map[string]coppice.Code{"real.yaml": "", filepath.Join(t.TempDir(), "x.yaml"): coppice.EInvalid, "/etc/hostname": coppice.EInvalid} {
		if err := errors.Join(os.RemoveAll(path), os.Symlink(target, path)); err != nil {
			t.Fatal(err)
		}
		if _, err := Apply(dir, set("base", `"main"`), "", nil, nil); coppice.ErrorCode(err) != code {
			t.Errorf("a link to %s: %v", target, err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link to %s is gone", target)
		}
	}
}

// A preview shows what Apply writes, comments included, and writes nothing.
func TestPreview(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	const file = "# ours\nbase: main # the trunk\ntracks: # lanes\n  - name: main\n    limit: 2\n\n# the end\nagent: {use: claude}\n"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	c := set("tracks", `[{"name":"main","default":true,"limit":3},{"name":"docs","categories":["docs"]}]`)
	diff, err := Preview(dir, c, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--- coppice.yaml\n", " base: main # the trunk\n", "-    limit: 2\n", "limit: 3", "categories: [docs]", " # the end\n"} {
		if !strings.Contains(diff, want) {
			t.Errorf("%q is not in\n%s", want, diff)
		}
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != file {
		t.Errorf("the preview wrote %q, %v", now, err)
	}
	refused := coppice.Errorf(coppice.EInvalid, "no")
	if _, err := Preview(dir, c, "", func(coppice.Policy) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("not accepted: %v", err)
	}
	if _, err := Preview(dir, c, "old", nil); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("an old revision: %v", err)
	}
	if diff, err := Preview(dir, set("base", `"main"`), "", nil); err != nil || diff != "" {
		t.Errorf("no change: %q, %v", diff, err)
	}
	if _, err := Apply(dir, c, "", nil, nil); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(diff) {
		if text, added := strings.CutPrefix(line, "+"); added && !strings.HasPrefix(line, "+++") && !strings.Contains(string(after), text) {
			t.Errorf("Apply did not write %q:\n%s", text, after)
		}
	}
}

// A refused change names the key that is wrong.
func TestRefusedChangeNamesItsKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, value, want string }{
		{"tracks", `[{"name":"main"},{"name":"no name"}]`, "tracks[1].name"},
		{"tracks", `[{"name":"main","limit":-1}]`, "tracks[0].limit"},
		{"tracks", `[{"name":"main"},{"name":"docs","color":"red"}]`, "tracks[1].color"},
		{"tracks", `[{"name":"main"},{"name":"main"}]`, "tracks[1]"},
		{"tracks", `[]`, "tracks"},
		{"limits.sessions", `0`, "limits.sessions"},
	} {
		_, err := Edit(File, []byte("# ours\nbase: main\nlimits:\n  memory: 50%\n"), set(c.key, c.value))
		var at *At
		if !errors.As(err, &at) || !strings.HasPrefix(at.Key, c.want) || at.Key == "" {
			t.Errorf("%s: %+v, want %s: %v", c.value, at, c.want, err)
		}
	}
}
