package config_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"coppice"
	"coppice/config"
	"coppice/internal/redact"
	"coppice/secret"
)

const token = "a value nobody sees"

func TestUserRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, at, says, fix string }{
		"unknown key":    {"secret: {}\n", ":1:1: ", `unknown key "secret", did you mean "secrets"?`, "known here: secrets"},
		"unknown source": {"secrets:\n  A:\n    fil: x\n", ":3:5: ", `did you mean "file"?`, "env, file, command, keyring"},
		"a bad name":     {"secrets:\n  ../a: {env: A}\n", ":2:3: ", "not a valid name", "letters"},
		"no source":      {"secrets:\n  A: {}\n", ":2:3: ", "no source, or more than one", "one of env"},
		"two sources":    {"secrets: {A: {env: A, file: x}}\n", ":1:11: ", "more than one", "one of env"},
		"a value":        {"secrets:\n  A: hunter2\n", ":2:6: ", "must be a mapping", ""},
		"a bad variable": {"secrets: {A: {env: 1A}}\n", ":1:20: ", "environment variable", "underscores"},
		"a shell":        {"secrets: {A: {command: gh auth token}}\n", ":1:24: ", "a list", "[gh auth token]"},
		"a bad entry":    {"secrets: {A: {keyring: a b}}\n", ":1:24: ", "not a valid name", ""},
		"no amount":      {"budget: {accounts: {claude: much}}\n", ":1:29: ", "not a valid amount of money", "5 or 2.50 USD"},
		"below 0":        {"budget: {accounts: {claude: -5}}\n", ":1:29: ", "not a valid amount of money", ""},
		"no account":     {"budget: {accounts: {\"claude:\": 5}}\n", ":1:21: ", "no model after the colon", "only claude"},
		"a project's":    {"budget: {day: 5}\n", ":1:10: ", "budget.day belongs to a project", "coppice.yaml"},
		"webhooks":       {"webhooks: {listen: 4041}\n", ":1:20: ", "must be text", ""},
		"webhooks' port": {"webhooks: {listen: forge.example.org}\n", ":1:20: ", "not a valid address to listen on", "127.0.0.1:4041"},
		"webhooks' host": {"webhooks: {listen: \"forge.example.org:4041\"}\n", ":1:20: ", "not a valid address to listen on", "an IP address"},
		"an anchor":      {"secrets: &a {A: {env: A}}\n", ":1:10: ", "anchors", ""},
	} {
		_, err := config.ParseUser("config.yaml", []byte(c.text))
		e := coppice.Public(err)
		if err == nil || !strings.HasPrefix(e.Cause, "config.yaml"+c.at) || !strings.Contains(e.Cause, c.says) || !strings.Contains(e.Fix, c.fix) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// References are read where secrets are allowed and refused everywhere else.
// Accounts are agents, or agents with a model; models can have a colon.
func TestAccountBudgets(t *testing.T) {
	t.Parallel()
	u, err := config.ParseUser("config.yaml", []byte("budget:\n  accounts:\n    claude: 20 USD\n    \"claude:opus\": 5\n    \"opencode:a/b:c\": 0.50\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (map[string]coppice.USD{"claude": 20, "claude:opus": 5, "opencode:a/b:c": 0.5}); !maps.Equal(u.Budget.Accounts, want) {
		t.Errorf("%v, want %v", u.Budget.Accounts, want)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	p, err := config.Parse("coppice.yaml", []byte(`mcp: {a: {url: "http://x.test/", headers: {A: "Bearer ${secret:A_1}"}}, b: {command: [b], env: {K: "${secret:B}"}}}`))
	if err != nil || !slices.Equal(secret.Names(p.MCP), []string{"A_1", "B"}) {
		t.Errorf("names %v, %v; want A_1 and B", secret.Names(p.MCP), err)
	}
	if _, err := config.Parse("coppice.yaml", []byte(`checks: ["secret=abc; test ${secret:1:2} = bc"]`)); err != nil {
		t.Errorf("a shell's own words: %v", err)
	}
	for text, says := range map[string]string{
		`mcp: {a: {url: "http://x.test/", headers: {A: "${secret:a b}"}}}`: "not a valid name",
		`mcp: {a: {url: "http://x.test/", headers: {A: "${secret:A"}}}`:    "has no end",
		`mcp: {a: {url: "http://x.test/${secret:A}"}}`:                     "a secret cannot be used in mcp entry.url",
		`mcp: {a: {command: [b, "--key=${secret:A}"]}}`:                    "a secret cannot be used in mcp entry.command",
		`checks: ["curl -H ${secret:A} x"]`:                                "a secret cannot be used in checks",
		`secrets: {A: {env: B}}`:                                           "only names them",
	} {
		if _, err := config.Parse("coppice.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), says) || coppice.Public(err).Fix == "" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// home is a user's home without any configuration.
func home(t *testing.T) (config.Secrets, string) {
	t.Helper()
	root := t.TempDir()
	return config.Secrets{Environ: []string{"HOME=" + root, "PATH=/usr/bin:/bin", "VAR=" + token}, Redact: redact.New()}, filepath.Join(root, ".config", "coppice")
}

func put(t *testing.T, dir, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, config.UserFile)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStoreSecrets(t *testing.T) {
	t.Parallel()
	s, dir := home(t)
	before := "# mine\nsecrets:\n  VAR: {env: VAR} # from the shell\n"
	path := put(t, dir, before, 0o600)
	if _, err := s.Set(t.Context(), "A", token+"\n", false); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(b), before) || !strings.Contains(string(b), "A: {file: secrets/A}") || strings.Contains(string(b), token) {
		t.Errorf("%v, the file is\n%s\nwant the text before, the secret A and no token", err, b)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want the mode 0600", info, err)
	}
	for _, name := range []string{"A", "VAR"} {
		if got, err := s.Resolve(t.Context(), name); err != nil || got != token {
			t.Errorf("%s: %q, %v; want the token", name, got, err)
		}
	}
	u, src, err := config.LoadUser(dir)
	if err != nil {
		t.Fatal(err)
	}
	if keys := config.ExplainUser(u, src); keys[0].Name != "secrets" || keys[0].From != "config.yaml:2" || keys[0].Value != "{A: {file: secrets/A}, VAR: {env: VAR}}" {
		t.Errorf("keys %+v, want secrets from config.yaml:2", keys)
	}
	if _, err := s.Set(t.Context(), "A", "another value", false); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		name, value string
		code        coppice.Code
	}{
		"from elsewhere": {"VAR", token, coppice.EConflict}, "case": {"a", token, coppice.EConflict}, "a path": {"../A", token, coppice.EInvalid},
		"short": {"B", "abc", coppice.EInvalid}, "nothing": {"B", "\n", coppice.EInvalid},
	} {
		if _, err := s.Set(t.Context(), c.name, c.value, false); coppice.ErrorCode(err) != c.code || coppice.Public(err).Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if was, err := s.Remove(t.Context(), "A"); err != nil || was.File != "secrets/A" {
		t.Errorf("removed %v, %v; want the file secrets/A", was, err)
	}
	if _, err := os.Stat(filepath.Join(dir, secret.Dir, "A")); err == nil {
		t.Error("the value is still there")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != before {
		t.Errorf("%v, the file is\n%s\nwant what it was", err, b)
	}
	if _, err := s.Remove(t.Context(), "A"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Error(err)
	}
	if _, err := s.Remove(t.Context(), "VAR"); err != nil {
		t.Error(err)
	}
}

// A file that others can access is refused, for reading and for storing.
func TestOpenUserFile(t *testing.T) {
	t.Parallel()
	s, dir := home(t)
	path := put(t, dir, "secrets: {VAR: {env: VAR}}\n", 0o644)
	_, err := s.Resolve(t.Context(), "VAR")
	_, setErr := s.Set(t.Context(), "A", token, false)
	for _, err := range []error{err, setErr} {
		if coppice.ErrorCode(err) != coppice.EForbidden || coppice.Public(err).Fix != "chmod 600 "+path {
			t.Errorf("error %v, want a refusal with chmod as the fix", err)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Resolve(t.Context(), "VAR"); err != nil || got != token {
		t.Errorf("%q, %v; want the token", got, err)
	}
	s.Environ = []string{"PATH=/bin"}
	if _, err := s.Resolve(t.Context(), "VAR"); coppice.ErrorCode(err) != coppice.EUnavailable {
		t.Errorf("without a home: %v", err)
	}
}

// Parallel changes lose no secret.
func TestStoreAtOnce(t *testing.T) {
	t.Parallel()
	s, dir := home(t)
	var all sync.WaitGroup
	for _, name := range []string{"A", "B", "C", "D", "E"} {
		all.Go(func() {
			if _, err := s.Set(t.Context(), name, token, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if u, _, err := config.LoadUser(dir); err != nil || len(u.Secrets) != 5 {
		t.Errorf("secrets %v, %v; want five", u.Secrets, err)
	}
}

// A secret moves between file and keyring, and is in one of them only.
func TestMoveToKeyring(t *testing.T) {
	t.Parallel()
	s, dir := home(t)
	bin := filepath.Join(dir, "bin")
	tool := "#!/bin/sh\nfile=\"$HOME/ring\"\ncase $1 in store) cat >\"$file\";; lookup) cat \"$file\" 2>/dev/null;; clear) rm \"$file\" 2>/dev/null;; esac\n"
	if err := errors.Join(os.MkdirAll(bin, 0o700), os.WriteFile(filepath.Join(bin, "secret-tool"), []byte(tool), 0o700)); err != nil {
		t.Fatal(err)
	}
	s.System, s.Environ[1] = "linux", "PATH="+bin+":/usr/bin:/bin"
	ring, file := filepath.Join(filepath.Dir(filepath.Dir(dir)), "ring"), filepath.Join(dir, secret.Dir, "A")
	for _, keyring := range []bool{false, true, false} {
		source, err := s.Set(t.Context(), "A", token, keyring)
		if err != nil || (source.Keyring == "A") != keyring {
			t.Fatalf("source %v, %v; want one in the keyring: %v", source, err, keyring)
		}
		_, inRing := os.Stat(ring)
		_, inFile := os.Stat(file)
		if (inRing == nil) != keyring || (inFile == nil) == keyring {
			t.Errorf("keyring %v: %v %v", keyring, inRing, inFile)
		}
		if got, err := s.Resolve(t.Context(), "A"); err != nil || got != token {
			t.Errorf("%q, %v; want the token", got, err)
		}
	}
}
