package cli_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	apihttp "coppice/api/http"
)

// login --open opens the link, or prints it if that fails.
func TestLoginOpens(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var opened string
	s.env.Open = func(_ context.Context, address string) error { opened = address; return nil }
	if code, out, _ := s.run("", "login", "--open"); code != 0 || !strings.Contains(opened, "/login?code=") || strings.Contains(out, opened) {
		t.Errorf("%d %q, opened %q", code, out, opened)
	}
	s.env.Open = func(context.Context, string) error { return coppice.Errorf(coppice.EUnavailable, "no browser") }
	if code, out, errs := s.run("", "login", "--open"); code != 0 || !strings.Contains(out, "/login?code=") || !strings.Contains(errs, "no browser") {
		t.Errorf("without a browser: %d %q %q", code, out, errs)
	}
	if code, out, _ := s.run("", "login", "--open", "--json"); code != 0 || !strings.Contains(out, `"url"`) {
		t.Errorf("as JSON: %d %q", code, out)
	}
}

// new starts a server only if none runs and the person allows it.
func TestNewStartsAServer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.env.Client = noServer(t)
	started := 0
	s.env.Start = func(context.Context, bool) (string, bool, error) {
		started++
		return "http://127.0.0.1:1", true, nil
	}
	if code, _, errs := s.run("", "new", "--no-serve", "A"); code != 1 || started != 0 || !strings.Contains(errs, "no coppice server") {
		t.Errorf("--no-serve: %d %q", code, errs)
	}
	if code, _, errs := s.run("", "list"); code != 1 || started != 0 || !strings.Contains(errs, "serve -d") {
		t.Errorf("another command: %d %q", code, errs)
	}
	s.env.Start = func(context.Context, bool) (string, bool, error) { return "", false, errors.New("no disk") }
	if code, _, errs := s.run("", "new", "A"); code != 1 || !strings.Contains(errs, "no disk") {
		t.Errorf("a start that fails: %d %q", code, errs)
	}
}

// new warns a person if the agent of the task is logged out.
func TestNewWarnsWithoutALogin(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *apihttp.Config) {
		c.Agents = func(context.Context, *coppice.Project, bool) (api.AgentList, error) {
			return api.AgentList{Agents: []api.Agent{{Name: "out", Login: "no", LoginBy: "outer auth status", LoginEnv: []string{"OUT_KEY"}}, {Name: "in", Login: "yes"}}}, nil
		}
	})
	s.Project("/src/app")
	for _, c := range []struct {
		agent    string
		terminal bool
		warns    bool
	}{{"out", true, true}, {"in", true, false}, {"out", false, false}} {
		s.env.Terminal = c.terminal
		code, _, errs := s.run("", "new", "A", "--agent", c.agent, "--project", "app")
		if code != 0 || strings.Contains(errs, "out is not logged in: run `outer` and log in, or restart the server with OUT_KEY") != c.warns {
			t.Errorf("%+v: %d %q", c, code, errs)
		}
	}
}
