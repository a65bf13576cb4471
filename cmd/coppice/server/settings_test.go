package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/verb"
)

func keyOf(c api.ProjectConfig, name string) api.ConfigKey {
	i := slices.IndexFunc(c.Keys, func(k api.ConfigKey) bool { return k.Key == name })
	if i < 0 {
		return api.ConfigKey{}
	}
	return c.Keys[i]
}

// A setting is shown with its source, changed in the file and effective immediately;
// a refused change changes nothing.
func TestSettings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const file = "# ours\nbase: main\nagent: {use: scripted} # ours alone\nlimits:\n  sessions: 4\n"
	repo := b.repo(map[string]string{"coppice.yaml": file})
	b.start()
	c, p := b.added(repo)
	conf, err := c.Config(b.ctx, p.Prefix)
	b.must(err)
	if k := keyOf(conf, "limits.sessions"); string(k.Value) != "4" || k.Source != "coppice.yaml:5" || k.Line != 5 || k.Default != "5" || *k.Min != 1 || *k.Max != 10000 || k.Doc == "" {
		t.Errorf("limits.sessions is %+v, want 4 from line 5, 5 by default, from 1 to 10000", k)
	}
	if k := keyOf(conf, "land.how"); string(k.Value) != `"queue"` || k.Source != "default" || !slices.Equal(k.OneOf, []string{"queue", "branch", "review", "pr"}) {
		t.Errorf("land.how is %+v, want queue by default, one of four", k)
	}
	if k := keyOf(conf, "tracks[].name"); !k.Form || !k.Needed {
		t.Errorf("tracks[].name is %+v, want a needed field of a form", k)
	}
	if i := slices.IndexFunc(conf.Server, func(s api.ServerSetting) bool { return s.Name == "listen" }); i < 0 || conf.Server[i].Value != "127.0.0.1:0" || conf.Server[i].Source != "flag" {
		t.Errorf("the server's settings are %+v, want listen by a flag", conf.Server)
	}
	dry, err := c.SetConfig(b.ctx, p.Prefix, api.ConfigChange{Key: "limits.sessions", Value: []byte("9"), Revision: conf.Revision, DryRun: true})
	if err != nil || !strings.Contains(dry.Diff, "-  sessions: 4\n+  sessions: 9\n") || dry.Revision != conf.Revision {
		t.Errorf("a dry run: %v, revision %s, diff %q", err, dry.Revision, dry.Diff)
	}
	tracks := api.ConfigChange{Key: "tracks", Value: []byte(`[{"name":"main"},{"name":"no name"}]`), DryRun: true}
	if _, err := c.SetConfig(b.ctx, p.Prefix, tracks); coppice.ErrorCode(err) != coppice.EInvalid || coppice.Public(err).Field != "tracks[1].name" {
		t.Errorf("a wrong name of a track: %v, field %q", err, coppice.Public(err).Field)
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
		t.Errorf("%v, limits %+v, revision %s after %s; want 9 sessions and the file\n%s\nit is\n%s", err, p.Policy.Limits, changed.Revision, conf.Revision, want, read())
	}
	for _, bad := range []struct {
		change api.ConfigChange
		code   coppice.Code
	}{
		{api.ConfigChange{Key: "limits.sessions", Value: []byte("0")}, coppice.EInvalid},
		{api.ConfigChange{Key: "base", Value: []byte(`"nowhere"`)}, coppice.ENotFound}, // a branch that does not exist
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

// A person's change of a prompt is in the file and in effect immediately, also while a
// session runs and another change waits for a confirmation. A refused change changes
// nothing.
func TestPrompts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo := b.repo(map[string]string{
		"coppice.yaml":           "base: main\nagent: {use: scripted}\nlimits: {memory: 100%}\nchecks: ['true']\n",
		".coppice/scripted.yaml": asks,
	})
	b.start()
	c, p := b.added(repo)
	made := b.create(c, p, coppice.NewTask{Title: "Greet"})
	b.await(c, coppice.EventQuestionAsked) // the session runs
	prompt := func(role string) api.Prompt {
		t.Helper()
		list, err := c.Prompts(b.ctx, p.Prefix)
		b.must(err)
		return list.Prompts[slices.IndexFunc(list.Prompts, func(x api.Prompt) bool { return x.Role == role })]
	}
	policy := func() coppice.Policy {
		t.Helper()
		p, err := c.Project(b.ctx, p.Prefix)
		b.must(err)
		return p.Policy
	}
	path := filepath.Join(repo, ".coppice", "prompts", "verify.md")
	before := prompt("verify")
	if before.Own || before.Text != before.BuiltIn || before.Path != ".coppice/prompts/verify.md" || before.About == "" {
		t.Errorf("the built-in prompt is %+v", before)
	}
	dry, err := c.SetPrompt(b.ctx, p.Prefix, "verify", api.PromptChange{Text: "Look at {{.Title}}.", Revision: before.Revision, DryRun: true})
	if _, stat := os.Stat(path); err != nil || stat == nil || !strings.Contains(dry.Diff, "+Look at {{.Title}}.\n") {
		t.Errorf("a dry run: %v, %v, %q", err, stat, dry.Diff)
	}
	if _, err := c.SetPrompt(b.ctx, p.Prefix, "verify", api.PromptChange{Text: "one\n{{.Titel}}", DryRun: true}); coppice.ErrorCode(err) != coppice.EInvalid || coppice.Public(err).Field != "text:2" || coppice.Public(err).Fix == "" {
		t.Errorf("a mistake: %v, field %q", err, coppice.Public(err).Field)
	}
	changed, err := c.SetPrompt(b.ctx, p.Prefix, "verify", api.PromptChange{Text: "Look at {{.Title}}.", Revision: before.Revision})
	b.must(err)
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "Look at {{.Title}}.\n" || !changed.Own || changed.Waits || policy().Prompts["verify"] != string(text) {
		t.Errorf("%q, %v, %+v, in effect %q", text, err, changed, policy().Prompts)
	}
	// What an agent could have written waits. The person's change does not confirm it.
	b.write(filepath.Join(repo, ".coppice", "prompts", "fix.md"), "Skip {{.Key}}.\n")
	if _, err := c.SetPrompt(b.ctx, p.Prefix, "verify", api.PromptChange{Text: "Look twice at {{.Title}}.", Revision: changed.Revision}); err != nil {
		t.Fatal(err)
	}
	if now := policy().Prompts; now["verify"] != "Look twice at {{.Title}}.\n" || now["fix"] != "" || !prompt("fix").Waits || prompt("verify").Waits {
		t.Errorf("in effect: %q", now)
	}
	for name, bad := range map[string]struct {
		role   string
		change api.PromptChange
		code   coppice.Code
	}{
		"old":     {"verify", api.PromptChange{Text: "x", Revision: before.Revision}, coppice.EConflict},
		"unknown": {"plan", api.PromptChange{Text: "x"}, coppice.EInvalid},
	} {
		if _, err := c.SetPrompt(b.ctx, p.Prefix, bad.role, bad.change); coppice.ErrorCode(err) != bad.code || coppice.Public(err).Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	removed, err := c.SetPrompt(b.ctx, p.Prefix, "verify", api.PromptChange{Unset: true})
	if _, stat := os.Stat(path); err != nil || stat == nil || removed.Own || removed.Text != before.BuiltIn || policy().Prompts["verify"] != "" {
		t.Errorf("removed: %v, %v, %+v, in effect %q", err, stat, removed, policy().Prompts)
	}
	_, err = c.Ask(b.ctx, made.Key, coppice.VerbStop, verb.Request{})
	b.must(err)
	b.await(c, coppice.EventTaskEnded)
}

// The output of a session is found, and the changes since it started are shown.
func TestFinds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo := b.repo(map[string]string{
		"coppice.yaml":           "agent: {use: scripted}\nbase: main\nlimits: {memory: 100%}\nland: {how: branch}\n",
		".coppice/scripted.yaml": "cases:\n  - steps:\n      - say: I feed the walrus\n      - write: {path: fed.txt, content: \"fed\\n\"}\n      - commit: Feed\n",
	})
	s := b.start()
	c, p := b.added(repo)
	made := b.create(c, p, coppice.NewTask{Title: "Feed them"})
	b.await(c, coppice.EventSessionEnded)
	for _, restarted := range []bool{false, true} {
		if restarted {
			s.Stop()
			s = b.start()
		}
		b.must(s.index.Wait(b.ctx))
		page, err := c.Search(b.ctx, client.SearchQuery{Text: "walr", Kinds: []string{api.HitOutput}})
		b.must(err)
		if len(page.Hits) == 0 || page.Hits[0].Session != made.Key+".1" || !strings.Contains(page.Hits[0].Snippet, "feed the walrus") {
			t.Errorf("restarted %v: found %+v, want what the session %s.1 said", restarted, page, made.Key)
		}
	}
	text, err := c.Diff(b.ctx, made.Key, true)
	b.must(err)
	if !strings.Contains(text, "+fed") {
		t.Errorf("since the session began: %q", text)
	}
}
