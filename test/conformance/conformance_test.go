//go:build linux

package conformance

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/control/tools"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
	"coppice/test/harness"
)

var program string // the built coppice

func TestMain(m *testing.M) { os.Exit(harness.RunWithProgram(m, &program)) }

// suite runs the active scenarios for servers. expected is a file with those that
// fail; the suite also fails if one of them passes.
func suite(t *testing.T, address, expected string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(harness.AgentCLIs(), "conformance", "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(index); err != nil {
		text := "the conformance suite is not installed; run test/conformance/install.sh"
		if os.Getenv("CI") == "true" || os.Getenv("COPPICE_REQUIRE_AGENTS") == "1" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	args := []string{"--import", filepath.Join(here, "fs.mjs"), index, "server", "--url", address, "--suite", "active"}
	if expected != "" {
		args = append(args, "--expected-failures", filepath.Join(here, expected))
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir = t.TempDir() // it writes its results there
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "Total:") {
		t.Errorf("no summary: %s", out)
	}
}

// serve serves on a name that the suite treats as local.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
}

// A server with the suite's fixtures passes the whole suite, on the handler, the HTTP
// server and the checks that people's tools have.
func TestFixtures(t *testing.T) {
	t.Parallel()
	fixtures := func(c *apihttp.Config) {
		c.Tools = func(http.Handler) http.Handler { return tools.Handler(t.Context(), fixtureServer(t), nil) }
	}
	b := apitest.Start(t, sqlitetest.Open(t, sqlite.Config{}), fixtures)
	suite(t, proxy(t, b.Server.URL()+"/mcp", apitest.Token), "")
}

// proxy passes requests on with a token. A request for the proxy's own name is one
// for the target's. Other names are passed unchanged.
func proxy(t *testing.T, target, token string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: u.Scheme, Host: u.Host})
		r.Out.URL.Path = u.Path
		r.Out.Host = r.In.Host
		if strings.HasPrefix(r.In.Host, "localhost:") {
			r.Out.Host = u.Host
		}
		if origin := r.In.Header.Get("Origin"); strings.HasPrefix(origin, "http://localhost:") {
			r.Out.Header.Set("Origin", "http://"+u.Host)
		}
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}})
}

// The endpoints of Coppice pass the scenarios that need no fixtures.
func TestProduct(t *testing.T) {
	t.Parallel()
	m := harness.New(t, program)
	repo := m.NewRepo("app", harness.Files{
		"coppice.yaml": "agent: {use: scripted}\nbase: main\nlimits: {memory: 100%}\n", ".coppice/scripted.yaml": "cases: [{steps: [{say: ready}, {hang: true}]}]\n",
	})
	m.Serve()
	for _, args := range [][]string{{"project", "add"}, {"new", "Wait"}} {
		if r := m.Try(repo, "", args...); r.Code != 0 {
			t.Fatalf("coppice %v: %+v", args, r)
		}
	}
	c := client.New(m.State)
	defer c.Close()
	seen := fmt.Errorf("seen")
	err := c.FollowEvents(t.Context(), client.EventQuery{}, func(e api.Event) error {
		if e.Kind == coppice.EventSessionStarted {
			return seen
		}
		return nil
	}, nil)
	if err != seen { //nolint:errorlint // it is returned unchanged
		t.Fatal(err)
	}
	var address, token string
	for address == "" {
		for _, p := range m.Processes() {
			if p.IsAgent() {
				address, token = p.Value("COPPICE_MCP_URL"), p.Value("COPPICE_TOKEN")
			}
		}
		if err := harness.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("session", func(t *testing.T) {
		t.Parallel()
		suite(t, proxy(t, address, token), "product.yml")
	})
	base, own, err := c.Server()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("people", func(t *testing.T) {
		t.Parallel()
		suite(t, proxy(t, base+"/mcp", own), "product.yml")
	})
}
