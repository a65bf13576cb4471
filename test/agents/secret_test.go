package agents

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/test/mcpserver"
)

// The secret has characters that shells, JSON and TOML write in another way, and
// a part that nothing else has. Some agents replace $NAME, so it has no such.
const (
	aSecret    = `tok"en\ 5f2c9a7713b4`
	secretPart = "5f2c9a7713b4"
)

// TestSecrets: real agents give tool servers secrets from their environment, at an
// address in headers and a program in variables. No argument list has them, and
// no file of the agent or of its session.
func TestSecrets(t *testing.T) {
	t.Parallel()
	for name, bench := range map[string]func(*testing.T) *bench{"claude": claudeBench, "codex": codexBench, "codex-exec": execBench} {
		t.Run(name+"-mcp-secret", func(t *testing.T) {
			t.Parallel()
			b := bench(t)
			tools, url := b.secretServer(t)
			_, x := b.inHost(t, agent.Request{
				Prompt: "ECHO hello", Secrets: map[string]string{agent.SecretVar("A"): aSecret},
				MCP: map[string]coppice.MCPServer{"orch": {URL: url, Headers: map[string]string{
					"Authorization": "Bearer ${COPPICE_SECRET_A}", "X-Alone": "${COPPICE_SECRET_A}", "X-Mixed": "key=${COPPICE_SECRET_A};",
				}}},
			}, "", "")
			calls := tools.Calls()
			if x.Outcome.Failure != nil || len(calls) != 1 || tools.Refused() != 0 {
				t.Fatalf("outcome %+v, calls %+v, %d refused", x.Outcome, calls, tools.Refused())
			}
			if h := calls[0].Headers; h.Get("X-Alone") != aSecret || h.Get("X-Mixed") != "key="+aSecret+";" {
				t.Errorf("headers %q", h)
			}
			b.noFileHas(t)

			tool := newTool(t)
			servers := tool.servers(t)
			servers["own"].Env[passedVar] = "passed ${COPPICE_SECRET_WORD}"
			_, x = b.inHost(t, agent.Request{Prompt: "ECHO hello", MCP: servers, Secrets: map[string]string{agent.SecretVar("WORD"): "on"}}, "", "")
			if x.Outcome.Failure != nil {
				t.Errorf("outcome %+v", x.Outcome)
			}
			tool.want(t, "hello")
		})
	}
}

// secretServer starts a tool server that knows the secret. At each request it
// checks that no argument list and no file has the secret.
func (b *bench) secretServer(t *testing.T) (*mcpserver.Server, string) {
	t.Helper()
	tools := mcpserver.New(aSecret)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		noArgumentHas(t)
		b.noFileHas(t)
		tools.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return tools, srv.URL + "/mcp"
}

// noArgumentHas looks at the argument list of every process.
func noArgumentHas(t *testing.T) {
	lists, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Error(err)
	}
	for _, path := range lists {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), secretPart) {
			t.Errorf("an argument list has it: %.300q", text)
		}
	}
}

// noFileHas looks at the files of the agent's home and workspace.
func (b *bench) noFileHas(t *testing.T) {
	t.Helper()
	for _, dir := range []string{b.home, b.repo} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
				return nil
			}
			text, readErr := os.ReadFile(path)
			if readErr == nil && strings.Contains(string(text), secretPart) {
				t.Errorf("%s has it", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
