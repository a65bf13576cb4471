package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apihttp "coppice/api/http"
)

// A person's client speaks lines to coppice mcp, which passes them to /mcp of the
// server with its token.
func TestMCPOfAPerson(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *apihttp.Config) {
		c.Tools = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(body)
			})
		}
	})
	code, out, errs := s.run(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n", "mcp")
	if code != 0 || errs != "" || out != `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n" {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if code, _, errs := s.run("", "mcp", "serve"); code != 2 || !strings.Contains(errs, "takes no arguments") {
		t.Errorf("%d %q", code, errs)
	}
}

// In a session it uses the session's address and token.
func TestMCPOfASession(t *testing.T) {
	t.Parallel()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer cop_SESSION" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer host.Close()
	s := setup(t)
	environ := map[string]string{"COPPICE_MCP_URL": host.URL, "COPPICE_TOKEN": "cop_SESSION"}
	s.env.Getenv = func(name string) string { return environ[name] }
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	if code, out, errs := s.run(ping, "mcp"); code != 0 || errs != "" || !strings.Contains(out, `"result"`) {
		t.Errorf("%d %q %q", code, out, errs)
	}
	environ["COPPICE_TOKEN"] = "cop_OTHER"
	if code, out, errs := s.run(ping, "mcp"); code != 0 || !strings.Contains(out, "does not accept the token") || strings.Contains(out+errs, "cop_") {
		t.Errorf("another token: %d %q %q", code, out, errs)
	}
	environ["COPPICE_TOKEN"] = ""
	if code, _, errs := s.run(ping, "mcp"); code != 1 || !strings.Contains(errs, "COPPICE_TOKEN") {
		t.Errorf("no token: %d %q", code, errs)
	}
}
