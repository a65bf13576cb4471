package cli_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/api/client"
	"coppice/api/http"
	"coppice/cmd/coppice/cli"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// completes returns what the shell offers after a command line.
func (s *shell) completes(words ...string) string {
	s.T.Helper()
	code, out, errs := s.run("", append([]string{"__complete"}, words...)...)
	if code != 0 || strings.Contains(errs, "coppice:") {
		s.T.Errorf("%q: exit %d: %s", words, code, errs)
	}
	return out
}

// noFiles is how an answer ends after which the shell does not offer files.
const noFiles = ":4\n"

// wantCompletions checks what the shell offers, by command line.
func (s *shell) wantCompletions(want map[string]string) {
	s.T.Helper()
	for line, want := range want {
		if got := s.completes(strings.Split(line, " ")...); got != want {
			s.T.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	b := apitest.Start(t, sqlitetest.Open(t, sqlite.Config{}), func(c *http.Config) {
		c.Agents = func(context.Context, *coppice.Project, bool) (api.AgentList, error) {
			return api.AgentList{Agents: []api.Agent{
				{Name: "robot", Version: "1", Path: "/bin/robot", Models: map[string]string{"complex": "big"}, Can: []string{}, Warnings: []string{}},
				{Name: "absent", Can: []string{}, Warnings: []string{}},
			}}, nil
		}
	})
	s := &shell{Bundle: b, env: cli.Env{Client: func() (*client.Client, error) { return client.At(b.Server.URL(), apitest.Token) }, Dir: "/src/app", Now: b.Clock.Now}}
	s.three()
	s.Project("/src/other")
	s.Task("other", coppice.NewTask{Title: "x"})
	s.Change("other-1", func(t *coppice.Task) { t.Title = nasty })
	s.ends("app-3", coppice.OutcomeFailed)
	s.wantCompletions(map[string]string{
		"show ":               "app-3\tThree\napp-2\tTwo\napp-1\tOne\n" + noFiles,
		"show app-1 ":         noFiles,
		"stop app-1 ":         "app-2\tTwo\n" + noFiles, // not the one that has ended, not the one that is named
		"retry ":              "app-3\tThree\n" + noFiles,
		"wait app-1 app-3 ":   "app-2\tTwo\n" + noFiles,
		"wait app-1 --until ": "ended\nlanded\nneeds-you\n" + noFiles,
		"answer app-1 ":       noFiles,
		"project pause o":     "other\t/src/other\n" + noFiles,
		"list --project ":     "app\t/src/app\nother\t/src/other\n" + noFiles,
		"list --status f":     "fixing\nfailed\n" + noFiles,
		"new x --after app-2": "app-2\tTwo\n" + noFiles,
		"new x --track ":      "main\n" + noFiles,
		"new x --agent ":      "robot\tready\n" + noFiles,
		"model app-1 b":       "big\trobot\n" + noFiles,
		"project add ":        ":0\n",
		"api ":                "GET\nPOST\nPATCH\nPUT\nDELETE\n" + noFiles,
		"help proj":           "project\tList, add, confirm, rename, pause, resume and remove projects\n" + noFiles,
		"help project pau":    "pause\tPause a project\n" + noFiles,
		"help exit":           "exit-codes\tExit codes of all commands\n" + noFiles,
	})
	if got := s.completes("show", "--json", "-h", ""); strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
	s.env.Dir = "/elsewhere"
	if got := s.completes("show", "other"); got != "other-1\tFix red<U+202E>txt<U+2069> <U+009B>2Jbell\n"+noFiles {
		t.Errorf("%q", got)
	}
}

// TestCompletionWithoutServer is silent, and offers no files.
func TestCompletionWithoutServer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.env.Client = func() (*client.Client, error) { return client.New(t.TempDir()), nil }
	for _, line := range []string{"show ", "new x --agent ", "list --project ", "model app-1 "} {
		if got := s.completes(strings.Split(line, " ")...); !strings.HasSuffix(got, ":4\n") || strings.Contains(got, "app-") {
			t.Errorf("%q: %q", line, got)
		}
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and does not answer
	s.Must(err)
	defer silent.Close()
	s.env.Client = func() (*client.Client, error) { return client.At("http://"+silent.Addr().String(), apitest.Token) }
	if got := s.completes("show", ""); got != ":4\n" {
		t.Errorf("a server that does not answer: %q", got)
	}
}

func TestAPICommand(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.three()
	if code, out, errs := s.run("", "api", "get", "/tasks?limit=1"); code != 0 || !strings.Contains(out, `"key": "app-3"`) || strings.Contains(out, "app-2") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if code, out, errs := s.run("", "api", "GET", "/api/v1/tasks/app-1"); code != 0 || !strings.Contains(out, `"key": "app-1"`) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if code, out, errs := s.run(`{"title": "Uno"}`, "api", "PATCH", "/tasks/app-1", "--input", "-"); code != 0 || !strings.Contains(out, `"title": "Uno"`) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if code, out, errs := s.run("", "api", "POST", "/tasks/app-1/stop"); code != 0 || !strings.Contains(out, `"asked"`) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	file := filepath.Join(t.TempDir(), "body.json")
	s.Must(os.WriteFile(file, []byte("{"), 0o600))
	for line, want := range map[string]string{
		"1 GET /tasks/app-99":                  `"code": "not_found"`,
		"1 GET /nothing":                       `"code": "not_found"`,
		"1 POST /projects/app/tasks":           `"code": "invalid"`,
		"1 PATCH /tasks/app-1 --input " + file: "the body is not JSON",
		"2 FETCH /tasks":                       "is not a method",
		"2 GET tasks":                          "is not a path",
		"1 GET //host/tasks":                   "is not a path of the API",
		"2 GET":                                "needs a method and a path",
	} {
		f := strings.Fields(line)
		code, out, errs := s.run("", append([]string{"api"}, f[1:]...)...)
		if code != int(f[0][0]-'0') || !strings.Contains(errs, want) || out != "" {
			t.Errorf("%s: %d %s%s", line, code, out, errs)
		}
	}
}
