package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/agent/profiles"
	"coppice/cmd/coppice/protocols"
	"coppice/cmd/coppice/setup"
	"coppice/control/agents"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n(go test ./cmd/coppice -update rewrites it)", name, got, want)
	}
}

// machine makes a PATH and a HOME with some agents: one logged in by a
// variable, one by a file, one not logged in, one of an untested version, one
// that reports no version.
func machine(t *testing.T) (self string, env []string) {
	t.Helper()
	bin, home := t.TempDir(), t.TempDir()
	put := func(file, text string, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	set, err := profiles.Load()
	if err != nil {
		t.Fatal(err)
	}
	program := func(name, body string) { put(filepath.Join(bin, name), "#!/bin/sh\n"+body+"\n", 0o755) }
	program("claude", `case "$*" in --version) echo "`+set["claude"].Tested+` (Claude Code)";; *) echo s3cret; exit 1;; esac`)
	program("codex", `case "$*" in --version) echo "codex-cli 0.1.2";; "login status") echo s3cret >&2; exit 1;; *) exit 9;; esac`)
	program("opencode", `echo 1.0.0-beta.3`)
	program("gemini", `echo `+set["gemini"].Tested)
	program("claude-agent-acp", `exit 0`)
	program("kiro-cli", `case "$*" in --version) echo kiro-cli 2.0.1;; whoami) exit 0;; esac`)
	program("amp", `echo 0.0.1`)
	program("coppice", `echo coppice version dev`)
	put(filepath.Join(home, ".local/share/opencode/auth.json"), "s3cret", 0o600)
	return filepath.Join(bin, "coppice"), []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + home, "ANTHROPIC_AUTH_TOKEN=s3cret"}
}

// found searches the machine, and makes its paths the same everywhere.
func found(t *testing.T) []agents.Agent {
	t.Helper()
	self, env := machine(t)
	list := agents.Search{Self: self, Env: env, Can: protocols.Abilities}.Find(t.Context(), nil)
	for i := range list {
		list[i].Path = strings.ReplaceAll(list[i].Path, filepath.Dir(self), "/bin")
	}
	return list
}

// The tables fit a terminal and contain no secret. JSON has everything.
func TestAgentsGolden(t *testing.T) {
	t.Parallel()
	list := found(t)
	for name, print := range map[string]func(*bytes.Buffer) error{
		"agents.txt":  func(b *bytes.Buffer) error { return setup.PrintAgents(b, list, false) },
		"agents.json": func(b *bytes.Buffer) error { return setup.PrintAgents(b, list, true) },
		"doctor.txt": func(b *bytes.Buffer) error {
			r := setup.Doctor(t.Context(), setup.Machine{
				Git:      func(context.Context, string, ...string) (string, error) { return "git version 2.50.0", nil },
				LookPath: func(string) (string, error) { return "/bin/x", nil },
				Limits: func(string) (setup.Limits, error) {
					return setup.Limits{DiskFree: 50 << 30, Memory: 16 << 30, OpenFiles: 1 << 20}, nil
				},
				Agents: func(context.Context) []agents.Agent { return list },
			})
			return r.Print(b, false)
		},
	} {
		var b bytes.Buffer
		if err := print(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
		if strings.Contains(b.String(), "s3cret") {
			t.Errorf("%s contains a secret", name)
		}
		for line := range strings.Lines(b.String()) {
			if strings.HasSuffix(name, ".txt") && len([]rune(line)) > 121 {
				t.Errorf("%s is too wide: %s", name, line)
			}
		}
	}
}

func TestAgentsJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := setup.PrintAgents(&b, found(t), true); err != nil {
		t.Fatal(err)
	}
	var r setup.Report
	if err := json.Unmarshal(b.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][3]string{
		"claude":           {"yes", "ANTHROPIC_AUTH_TOKEN", "/bin/claude"},
		"codex":            {"no", "codex login status", "/bin/codex"},
		"opencode":         {"yes", "~/.local/share/opencode/auth.json", "/bin/opencode"},
		"gemini":           {"unknown", "", "/bin/gemini"},
		"kiro":             {"yes", "kiro-cli whoami", "/bin/kiro-cli"},
		"claude-agent-acp": {"yes", "ANTHROPIC_AUTH_TOKEN", "/bin/claude-agent-acp"},
		"scripted":         {"", "", "/bin/coppice"},
		"qwen":             {"", "", ""}, // not installed
	} {
		i := slices.IndexFunc(r.Agents, func(a agents.Agent) bool { return a.Name == name })
		if i < 0 {
			t.Errorf("%s is missing", name)
			continue
		}
		a := r.Agents[i]
		if got := [3]string{a.Login, a.LoginBy, a.Path}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if a.Protocol == "" || len(a.Can) == 0 || a.Install == "" {
			t.Errorf("%s says too little: %+v", name, a)
		}
	}
}

// What an agent can do follows from its protocol and its profile.
func TestAbilities(t *testing.T) {
	t.Parallel()
	screen := coppice.ScreenProfile{Runtime: "pty", Resume: []string{"-r"}}
	for _, c := range []struct {
		p    coppice.Profile
		want string
	}{
		{coppice.Profile{Protocol: "claude", Resume: []string{"-r"}, Fork: []string{"-f"}, Screen: screen}, "messages resume fork model permissions tools screen images"},
		{coppice.Profile{Protocol: "claude", MCP: "none"}, "messages model permissions images"},
		{coppice.Profile{Protocol: "codex"}, "messages resume fork model permissions tools images"},
		{coppice.Profile{Protocol: "codex-exec", Resume: []string{"-r"}}, "resume tools images"},
		{coppice.Profile{Protocol: "acp"}, "resume model permissions tools images"},
		{coppice.Profile{Protocol: "acp", MCP: "none"}, "resume model permissions images"},
		{coppice.Profile{Protocol: "acp", Driver: coppice.DriverProfile{Messages: "now"}}, "messages resume model permissions tools images"},
		{coppice.Profile{Protocol: "jsonl-messages"}, ""},
		{coppice.Profile{Protocol: "jsonl-messages", MCP: "--mcp-config", Resume: []string{"-r"}}, "resume tools"},
		{coppice.Profile{Protocol: "jsonl-messages", MCP: "none"}, ""},
		{coppice.Profile{Protocol: "command"}, ""},
		{coppice.Profile{Protocol: "terminal", Screen: screen}, "messages resume screen"},
		{coppice.Profile{Protocol: "nothing", Screen: screen}, ""},
	} {
		c.p.Command = []string{"x"}
		if got := strings.Join(protocols.Abilities(c.p), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.p.Protocol, got, c.want)
		}
	}
}
