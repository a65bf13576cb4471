package profiles

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

// A deprecated variable of a project's own profile counts like the field, and
// is reported. The variable does not reach the agent.
func TestDeprecatedVariables(t *testing.T) {
	t.Parallel()
	set, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	type driver = coppice.DriverProfile
	for _, c := range []struct {
		agent, variable, value string
		want                   func(*driver)
	}{
		{"qwen", "COPPICE_SETTINGS", `OTHER={"a":"b=c"}`, func(d *driver) { d.Files = map[string]string{"OTHER": `{"a":"b=c"}`} }},
		{"gemini", "COPPICE_ACP_AUTH", "oauth-personal", func(d *driver) { d.Auth = "oauth-personal" }},
		{"gemini", "COPPICE_ACP_AUTH", "", func(d *driver) { d.Auth = "none" }},
		{"gemini", "COPPICE_ACP_MESSAGES", "now", func(d *driver) { d.Messages = "now" }},
		{"opencode", "COPPICE_ACP_MESSAGES", "", func(d *driver) { d.Messages = "later" }},
		{"opencode", "COPPICE_ACP_ASK", "--ask a", func(d *driver) { d.AskArgs, d.AskEnv = []string{"--ask", "a"}, map[string]string{} }},
		{"opencode", "COPPICE_ACP_ASK", "A=b=c", func(d *driver) { d.AskArgs, d.AskEnv = []string{}, map[string]string{"A": "b=c"} }},
		{"opencode", "COPPICE_ACP_ASK", "", func(d *driver) { d.AskArgs, d.AskEnv = []string{}, map[string]string{} }},
		{"claude-agent-acp", "COPPICE_ACP_SECRETS", "no", func(d *driver) { d.Secrets = "filled" }},
		{"claude-agent-acp", "COPPICE_ACP_META", `{"a":1}`, func(d *driver) { d.Meta = `{"a":1}` }},
		{"claude-agent-acp", "COPPICE_ACP_META", "", func(d *driver) { d.Meta = "{}" }},
		{"opencode", "COPPICE_ACP_TRIES", "again: (.*)", func(d *driver) { d.RetryLog = "again: (.*)" }},
		{"opencode", "COPPICE_ACP_TRIES", "", func(d *driver) { d.RetryLog = "^()$" }},
		{"codex", "COPPICE_CODEX_SANDBOX", "read-only", func(d *driver) { d.Sandbox = "read-only" }},
	} {
		own := coppice.Profile{Env: map[string]string{c.variable: c.value, "KEPT": "1"}}
		got, err := set.With(map[string]coppice.Profile{c.agent: own})
		if err != nil {
			t.Errorf("%s=%s: %v", c.variable, c.value, err)
			continue
		}
		want := set[c.agent].Driver
		c.want(&want)
		if d := cmp.Diff(want, got[c.agent].Driver); d != "" {
			t.Errorf("%s=%s of %s (-want +got):\n%s", c.variable, c.value, c.agent, d)
		}
		if _, there := got[c.agent].Env[c.variable]; there || got[c.agent].Env["KEPT"] != "1" || own.Env[c.variable] != c.value {
			t.Errorf("%s: the environment is %v, the project's own %v", c.variable, got[c.agent].Env, own.Env)
		}
		_, notes, err := Modern(c.agent, own)
		if err != nil || len(notes) != 1 || !strings.Contains(notes[0], c.variable) || !strings.Contains(notes[0], "driver.") {
			t.Errorf("%s: %v, %v", c.variable, notes, err)
		}
	}
}

func TestBadDriverSettings(t *testing.T) {
	t.Parallel()
	set, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, own := range map[string]coppice.Profile{
		"messages":  {Driver: coppice.DriverProfile{Messages: "soon"}},
		"secrets":   {Driver: coppice.DriverProfile{Secrets: "yes"}},
		"sandbox":   {Driver: coppice.DriverProfile{Sandbox: "strong"}},
		"list":      {Driver: coppice.DriverProfile{Meta: "[1]"}},
		"null":      {Driver: coppice.DriverProfile{Meta: "null"}},
		"broken":    {Driver: coppice.DriverProfile{RetryLog: "("}},
		"no group":  {Driver: coppice.DriverProfile{RetryLog: "no group"}},
		"file":      {Driver: coppice.DriverProfile{Files: map[string]string{"my path": "x"}}},
		"ask":       {Driver: coppice.DriverProfile{AskEnv: map[string]string{"": "x"}}},
		"sandbox 2": {Env: map[string]string{"COPPICE_CODEX_SANDBOX": "strong"}},
		"settings":  {Env: map[string]string{"COPPICE_SETTINGS": "lower case"}},
		"empty":     {Env: map[string]string{"COPPICE_SETTINGS": ""}},
		"meta":      {Env: map[string]string{"COPPICE_ACP_META": "[1]"}},
		"ask env":   {Env: map[string]string{"COPPICE_ACP_ASK": "a b=c"}},
	} {
		_, err := set.With(map[string]coppice.Profile{"opencode": own})
		var e *coppice.Error
		if coppice.ErrorCode(err) != coppice.EInvalid || !errors.As(err, &e) || e.Fix == "" {
			t.Errorf("%s: got %v, want an error with a fix", name, err)
		}
	}
}

// No built-in profile uses what is deprecated.
func TestBuiltInProfilesAreModern(t *testing.T) {
	t.Parallel()
	set, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if _, notes, err := Modern(name, set[name]); err != nil || len(notes) > 0 {
			t.Errorf("%s: %v, %v", name, notes, err)
		}
	}
}
