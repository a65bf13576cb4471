package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/engine"
)

func keyOf(c api.ProjectConfig, name string) api.ConfigKey {
	i := slices.IndexFunc(c.Keys, func(k api.ConfigKey) bool { return k.Key == name })
	if i < 0 {
		return api.ConfigKey{}
	}
	return c.Keys[i]
}

// A setting is shown with its source, changed in the file and in force at once;
// what is refused changes nothing.
func TestSettings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const file = "# ours\nbase: main\nagent: {use: scripted} # ours alone\nlimits:\n  sessions: 4\n"
	repo := b.repo(map[string]string{"coppice.yaml": file})
	b.start()
	c := b.client()
	p, err := c.AddProject(b.ctx, repo)
	b.must(err)
	conf, err := c.Config(b.ctx, p.Prefix)
	b.must(err)
	if k := keyOf(conf, "limits.sessions"); string(k.Value) != "4" || k.Source != "coppice.yaml:5" || k.Line != 5 || k.Default != "5" || *k.Min != 1 || *k.Max != 10000 || k.Doc == "" {
		t.Errorf("%+v", k)
	}
	if k := keyOf(conf, "land.how"); string(k.Value) != `"queue"` || k.Source != "default" || !slices.Equal(k.OneOf, []string{"queue", "branch"}) {
		t.Errorf("%+v", k)
	}
	if k := keyOf(conf, "tracks[].name"); !k.Form || !k.Needed {
		t.Errorf("%+v", k)
	}
	if i := slices.IndexFunc(conf.Server, func(s api.ServerSetting) bool { return s.Name == "listen" }); i < 0 || conf.Server[i].Value != "127.0.0.1:0" || conf.Server[i].Source != "flag" {
		t.Errorf("%+v", conf.Server)
	}
	changed, err := c.SetConfig(b.ctx, p.Prefix, api.ConfigChange{Key: "limits.sessions", Value: []byte("9"), Revision: conf.Revision})
	b.must(err)
	want := strings.Replace(file, "sessions: 4", "sessions: 9", 1)
	read := func() string {
		text, err := os.ReadFile(filepath.Join(repo, "coppice.yaml"))
		b.must(err)
		return string(text)
	}
	if p, err := c.Project(b.ctx, p.Prefix); err != nil || p.Policy.Limits.Sessions != 9 || read() != want || changed.Revision == conf.Revision {
		t.Errorf("%v %+v\n%s", err, p.Policy.Limits, read())
	}
	for _, bad := range []struct {
		change api.ConfigChange
		code   coppice.Code
	}{
		{api.ConfigChange{Key: "limits.sessions", Value: []byte("0")}, coppice.EInvalid},
		{api.ConfigChange{Key: "base", Value: []byte(`"nowhere"`)}, coppice.ENotFound}, // a branch that is not there
		{api.ConfigChange{Key: "limits.sessions", Value: []byte("2"), Revision: conf.Revision}, coppice.EConflict},
		{api.ConfigChange{Key: "nope", Unset: true}, coppice.EInvalid},
	} {
		if _, err := c.SetConfig(b.ctx, p.Prefix, bad.change); coppice.ErrorCode(err) != bad.code || coppice.Public(err).Fix == "" {
			t.Errorf("%s: %v (%s)", bad.change.Key, err, coppice.ErrorCode(err))
		}
	}
	if p, err := c.Project(b.ctx, p.Prefix); err != nil || p.Policy.Limits.Sessions != 9 || p.Policy.Base != "main" || read() != want {
		t.Errorf("a refused change left %+v\n%s", p.Policy.Limits, read())
	}
}

// The agents of a machine and of a project are found, in the environment in
// which they work, once for all who ask within a minute.
func TestAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	count, program := filepath.Join(dir, "count"), filepath.Join(dir, "agent.sh")
	text := "#!/bin/sh\n[ -z \"$SECRET\" ] || exit 9\necho x >>" + count + "\necho version 1.2.3\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	l := &agentLook{self: filepath.Join(dir, "none"), env: []string{"PATH=" + dir, "HOME=" + dir, "SECRET=s"}, now: func() time.Time { return now }, most: time.Minute}
	p := &coppice.Project{Policy: coppice.Policy{Agents: map[string]coppice.Profile{
		"mine": {Protocol: "command", Command: []string{program}, Version: []string{program}, Tested: "1.0.0"},
		"gone": {Protocol: "command", Command: []string{"no-such-program"}, Install: "get it"},
	}}}
	find := func(p *coppice.Project, refresh bool, name string) api.Agent {
		t.Helper()
		list, err := l.agents(t.Context(), p, refresh)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list.Agents {
			if a.Name == name {
				return a
			}
		}
		return api.Agent{}
	}
	looked := func(want int) {
		t.Helper()
		if seen, err := os.ReadFile(count); err != nil || strings.Count(string(seen), "x") != want {
			t.Errorf("asked %q, want %d: %v", seen, want, err)
		}
	}
	if a := find(p, false, "mine"); !a.Own || a.Version != "1.2.3" || a.Path != program || len(a.Warnings) != 1 || a.Protocol != "command" {
		t.Errorf("%+v", a)
	}
	if a := find(p, false, "gone"); a.Path != "" || a.Version != "" || a.Install != "get it" {
		t.Errorf("%+v", a)
	}
	looked(1)
	find(p, true, "mine")
	looked(2)
	now = now.Add(lookFor)
	find(p, false, "mine")
	looked(3)
	if a := find(nil, false, "mine"); a.Name != "" {
		t.Errorf("another project's agent: %+v", a)
	}
	l.stop()
	if _, err := l.agents(t.Context(), p, true); coppice.ErrorCode(err) != coppice.EUnavailable {
		t.Errorf("after it was stopped: %v", err)
	}
}

// What a session writes is found, and what changed since it began is shown.
func TestFinds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo := b.repo(map[string]string{
		"coppice.yaml":           "agent: {use: scripted}\nbase: main\nlimits: {memory: 100%}\nland: {how: branch}\n",
		".coppice/scripted.yaml": "cases:\n  - steps:\n      - say: I feed the walrus\n      - write: {path: fed.txt, content: \"fed\\n\"}\n      - commit: Feed\n",
	})
	s := b.start()
	c := b.client()
	p, err := c.AddProject(b.ctx, repo)
	b.must(err)
	made, err := c.CreateTasks(b.ctx, p.Prefix, []engine.NewTask{{Title: "Feed them"}})
	b.must(err)
	b.await(c, coppice.EventSessionEnded)
	for _, restarted := range []bool{false, true} {
		if restarted {
			s.Stop()
			s = b.start()
		}
		for {
			page, err := c.Search(b.ctx, client.SearchQuery{Text: "walr", Kinds: []string{api.HitOutput}})
			b.must(err)
			if page.Behind {
				continue
			}
			if len(page.Hits) == 0 || page.Hits[0].Session != made[0].Key+".1" || !strings.Contains(page.Hits[0].Snippet, "feed the walrus") {
				t.Errorf("restarted %v: %+v", restarted, page)
			}
			break
		}
	}
	text, err := c.Diff(b.ctx, made[0].Key, true)
	b.must(err)
	if !strings.Contains(text, "+fed") {
		t.Errorf("since the session began: %q", text)
	}
}
