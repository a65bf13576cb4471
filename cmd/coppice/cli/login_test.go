package cli_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"coppice"
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
