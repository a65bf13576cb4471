// Package forges starts services that host pull requests and issues, for tests.
package forges

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"coppice/test/harness"
	"coppice/test/ports"
)

// GitHub is an emulator of GitHub's REST API on the loopback interface. It has no
// GraphQL, no commit statuses and no git.
type GitHub struct {
	API string // the address of the API

	tokens []string // of its users
}

// Token returns the token of a user.
func (*GitHub) Token(login string) string { return "token-" + login }

// StartGitHub starts an emulator with the users and one repository, owner/name. It
// stops it when the test ends. It skips the test if the emulator is not installed,
// except where it must be.
func StartGitHub(t testing.TB, owner, name string, users ...string) *GitHub {
	t.Helper()
	g := &GitHub{}
	g.API = StartEmulator(t, "github", g.seed(owner, name, users)) + "/"
	return g
}

// StartEmulator starts the emulator of a service on the loopback interface, with a seed in
// YAML, and returns its address. It stops it when the test ends. It skips the test if the
// emulator is not installed, except where it must be.
func StartEmulator(t testing.TB, service, seeds string) string {
	t.Helper()
	dir := filepath.Join(harness.AgentCLIs(), "emulate")
	node := filepath.Join(dir, "node")
	if _, err := os.Stat(node); err != nil {
		text := "the emulator of " + service + " is not installed; run test/forges/install-emulate.sh"
		if os.Getenv("CI") == "true" || os.Getenv("COPPICE_REQUIRE_AGENTS") == "1" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	home, port := t.TempDir(), ports.Block(t)
	seed := filepath.Join(home, "seed.yaml")
	if err := os.WriteFile(seed, []byte(seeds), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, filepath.Join(dir, "node_modules", "emulate", "dist", "index.js"),
		"start", "--service", service, "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--seed", seed)
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home}
	out := &waiter{text: "Ready.", found: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	select {
	case <-out.found:
	case err := <-ended:
		ended <- err
		t.Fatalf("the emulator of %s: %v: %s", service, err, out.String())
	}
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// Linear is an emulator of Linear's GraphQL API on the loopback interface. It has no
// filter by time, relations, sub-issues and attachments.
type Linear struct {
	API string // the address of the GraphQL API

	tokens []string // of its users
}

// Token returns the API key of a user.
func (*Linear) Token(name string) string { return "lin_api_" + name }

// StartLinear starts an emulator with the users and the teams, as StartGitHub does.
func StartLinear(t testing.TB, teams []string, users ...string) *Linear {
	t.Helper()
	l := &Linear{}
	var people, keys, tokens strings.Builder
	for _, name := range users {
		l.tokens = append(l.tokens, l.Token(name))
		fmt.Fprintf(&people, "    - {email: %s@example.org, name: %s}\n", name, name)
		fmt.Fprintf(&tokens, "    - {token: %s, user: %s@example.org, scopes: [read, write, \"issues:create\", \"comments:create\"]}\n", l.Token(name), name)
	}
	for _, key := range teams {
		fmt.Fprintf(&keys, "    - key: %s\n      name: Team %s\n      states:\n", key, key)
		for _, s := range []string{"Backlog, type: backlog", "Todo, type: unstarted", "In Progress, type: started", "In Review, type: started", "Done, type: completed", "Canceled, type: canceled"} {
			fmt.Fprintf(&keys, "        - {name: %s}\n", s)
		}
	}
	l.API = StartEmulator(t, "linear", fmt.Sprintf("linear:\n  organization: {name: Acme, url_key: acme}\n  users:\n%s  teams:\n%s  tokens:\n%s  strict_scopes: true\n", &people, &keys, &tokens)) + "/graphql"
	return l
}

func (g *GitHub) seed(owner, name string, users []string) string {
	var tokens, logins strings.Builder
	for _, login := range append([]string{owner}, users...) {
		g.tokens = append(g.tokens, g.Token(login))
		fmt.Fprintf(&tokens, "  %s: {login: %s, scopes: [repo]}\n", g.Token(login), login)
		fmt.Fprintf(&logins, "    - {login: %s}\n", login)
	}
	return fmt.Sprintf("tokens:\n%sgithub:\n  users:\n%s  repos:\n    - {owner: %s, name: %s, auto_init: true}\n", &tokens, &logins, owner, name)
}

// waiter keeps what is written to it, and closes found when the text is in it.
type waiter struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	text  string
	found chan struct{}
}

func (w *waiter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := bytes.Contains(w.buf.Bytes(), []byte(w.text))
	w.buf.Write(p)
	if !before && bytes.Contains(w.buf.Bytes(), []byte(w.text)) {
		close(w.found)
	}
	return len(p), nil
}

func (w *waiter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}
