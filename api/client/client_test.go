package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func state(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := client.EnsureToken(dir); err != nil {
		t.Fatal(err)
	}
	if err := client.WriteEndpoint(dir, client.Endpoint{URL: "http://127.0.0.1:7420", PID: 42}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEndpointIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := state(t)
	for _, name := range []string{"token", "server.json"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	e, token, err := client.ReadEndpoint(dir)
	again, err2 := client.EnsureToken(dir)
	if err != nil || err2 != nil || e.PID != 42 || e.URL != "http://127.0.0.1:7420" || len(token) < 40 || token != again {
		t.Errorf("%+v %d %v %v", e, len(token), err, err2)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

// A crash of the machine can leave a file without its content.
func TestEndpointWithoutContentMeansNoServer(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\x00\x00", `{"url":"http://127`} {
		dir := state(t)
		if err := os.WriteFile(filepath.Join(dir, "server.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := client.ReadEndpoint(dir); !errors.Is(err, client.ErrNoServer) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAnotherLocalUser_FilesOthersCouldTouchAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"token", "server.json"} {
		for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o602, 0o666, 0o644} {
			dir := state(t)
			if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
				t.Fatal(err)
			}
			_, _, err := client.ReadEndpoint(dir)
			if coppice.ErrorCode(err) != coppice.EForbidden || !strings.Contains(err.Error(), "chmod") {
				t.Errorf("%s with mode %o: %v", name, mode, err)
			}
			if name == "token" {
				if _, err := client.EnsureToken(dir); coppice.ErrorCode(err) != coppice.EForbidden {
					t.Errorf("a server takes a token with mode %o: %v", mode, err)
				}
			}
		}
		dir := state(t)
		path := filepath.Join(dir, name)
		if err := os.Rename(path, path+".real"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path+".real", path); err != nil {
			t.Fatal(err)
		}
		if _, _, err := client.ReadEndpoint(dir); coppice.ErrorCode(err) != coppice.EForbidden {
			t.Errorf("%s as a link: %v", name, err)
		}
	}
}

func TestTheTokenStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://evil.com", "https://127.0.0.1:1", "http://127.0.0.1.evil.com", "http://10.0.0.1:7420", "", "file:///etc"} {
		dir := state(t)
		if err := client.WriteEndpoint(dir, client.Endpoint{URL: url}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := client.ReadEndpoint(dir); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%q: %v", url, err)
		}
	}
	foreign := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed with %q", r.Header.Get("Authorization"))
	}))
	defer foreign.Close()
	s := httptest.NewServer(http.RedirectHandler(foreign.URL, http.StatusFound))
	defer s.Close()
	c, err := client.At(s.URL, "secret")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Version(t.Context()); err == nil {
		t.Error("a redirect was followed")
	}
}

func TestRemoveEndpointSparesASuccessor(t *testing.T) {
	t.Parallel()
	dir := state(t)
	if err := client.RemoveEndpoint(dir, 7); err != nil {
		t.Fatal(err)
	}
	if _, _, err := client.ReadEndpoint(dir); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := client.RemoveEndpoint(dir, 42); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := client.ReadEndpoint(dir); coppice.ErrorCode(err) != coppice.EUnavailable || !strings.Contains(err.Error(), "coppice serve") {
		t.Errorf("no server: %v", err)
	}
}

func TestErrorsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	want := &coppice.Error{Code: coppice.EConflict, Cause: "it runs", Fix: "stop it", Field: "key"}
	answers := map[string]func(http.ResponseWriter){
		"a problem": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", api.ProblemType)
			w.WriteHeader(http.StatusConflict)
			_ = json.NewEncoder(w).Encode(api.ProblemOf(want))
		},
		"something else": func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		"half an answer": func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"version":`)) },
	}
	codes := map[string]coppice.Code{"a problem": coppice.EConflict, "something else": coppice.EInternal, "half an answer": coppice.EUnavailable}
	for name, answer := range answers {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		c, err := client.At(s.URL, "x")
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Version(t.Context())
		if coppice.ErrorCode(err) != codes[name] {
			t.Errorf("%s: %v", name, err)
		}
		if name == "a problem" && err.Error() != want.Error() {
			t.Errorf("%v, want %v", err, want)
		}
		c.Close()
		s.Close()
	}
}
