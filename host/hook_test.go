package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
)

func init() {
	testProtocols["hook"] = hookProtocol{}
	if os.Getenv(roleVar) == "hook" {
		os.Exit(callHooks(os.Args[1]))
	}
}

// hookProtocol has an agent that calls hooks. A file contains their address.
type hookProtocol struct{}

func (hookProtocol) Name() string { return "hook" }

func (hookProtocol) Launch(p coppice.Profile, r agent.Request) (agent.Launch, error) {
	l := agent.Launch{Argv: p.Command, Env: map[string]string{roleVar: "hook"}}
	path, err := l.AddFile(r, "settings.json", []byte(r.HookURL))
	l.Argv = append(l.Argv[:1:1], path)
	return l, err
}

func (hookProtocol) Driver(_ coppice.Profile, r agent.Request) agent.Driver {
	return hookDriver{&testDriver{protocol: "once", prompt: r.Prompt}}
}

type hookDriver struct{ *testDriver }

func (d hookDriver) Hook(body []byte) (agent.Step, []byte) {
	if string(body) == "panic" {
		panic("cannot read this")
	}
	return agent.Step{Events: []coppice.AgentEvent{{Kind: coppice.KindPermission, Text: "asked: " + string(body)}}}, fmt.Appendf(nil, "said %d bytes", len(body))
}

// callHooks is that agent. It prints what it gets.
func callHooks(file string) int {
	address, err := os.ReadFile(file)
	info, statErr := os.Stat(file)
	dir, dirErr := os.Stat(filepath.Dir(file))
	if err = errors.Join(err, statErr, dirErr); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("modes", info.Mode().Perm(), dir.Mode().Perm())
	fmt.Println("address", string(address))
	fmt.Println("no proxy", os.Getenv("NO_PROXY"))
	for _, body := range []string{"one", "panic", "after"} {
		req, err := http.NewRequest(http.MethodPost, string(address), strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		req.Header.Set("Authorization", "Bearer "+os.Getenv(agent.HookTokenVar))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		answer, _ := io.ReadAll(res.Body)
		res.Body.Close()
		fmt.Printf("%s: %d %s\n", body, res.StatusCode, answer)
	}
	return 0
}

func TestHooks(t *testing.T) {
	t.Parallel()
	b := setup(t, "hook")
	b.spec.Env["NO_PROXY"] = "example.com"
	b.start("")
	b.ended()
	out := string(b.output(coppice.OutputStdout)) + string(b.output(coppice.OutputEvent))
	for _, want := range []string{
		"modes -rw------- -rwx------", "no proxy example.com,127.0.0.1", "one: 200 said 3 bytes", "asked: one",
		"panic: 503", "after: 503", // without a driver there is no answer
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	_, rest, _ := strings.Cut(out, "address ")
	address, _, _ := strings.Cut(rest, "\n")
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(u.Host, "127.0.0.1:") {
		t.Fatalf("address %q: %v", address, err)
	}
	if c, err := net.Dial("tcp", u.Host); err == nil {
		c.Close()
		t.Error("hooks are answered after the end")
	}
	if _, err := os.Stat(filepath.Join(b.dir, privateDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the private directory is still there: %v", err)
	}
}

// An agent whose driver takes no hooks gets no address and no token.
func TestNoHooks(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "env")
	b.start("")
	b.ended()
	if out := string(b.output(coppice.OutputStdout)); strings.Contains(out, agent.HookTokenVar) || strings.Contains(out, "NO_PROXY") || !strings.Contains(out, "PATH=") {
		t.Errorf("environment: %s", out)
	}
}

func TestHookRefuses(t *testing.T) {
	t.Parallel()
	asked := 0
	k := &endpoint{token: "right", ready: make(chan struct{}), ask: func(b []byte) ([]byte, error) { asked++; return b, nil }}
	k.begin()
	for _, c := range []struct {
		name, method, path, auth string
		body                     []byte
		want                     int
	}{
		{"no token", "POST", "/hook", "", nil, 404},
		{"another token", "POST", "/hook", "Bearer wrong", nil, 404},
		{"a token that begins right", "POST", "/hook", "Bearer righ", nil, 404},
		{"without the word", "POST", "/hook", "right", nil, 404},
		{"another way", "POST", "/", "Bearer right", nil, 404},
		{"below", "POST", "/hook/x", "Bearer right", nil, 404},
		{"read", "GET", "/hook", "Bearer right", nil, 404},
		{"too large", "POST", "/hook", "Bearer right", make([]byte, maxHook+1), 413},
		{"right", "POST", "/hook", "Bearer right", bytes.Repeat([]byte("x"), maxHook), 200},
	} {
		asked = 0
		r := httptest.NewRequest(c.method, c.path, bytes.NewReader(c.body))
		if c.auth != "" {
			r.Header.Set("Authorization", c.auth)
		}
		w := httptest.NewRecorder()
		k.ServeHTTP(w, r)
		if w.Code != c.want || (asked == 1) != (c.want == 200) {
			t.Errorf("%s: %d, want %d; asked %d times", c.name, w.Code, c.want, asked)
		}
	}
}

// After the agent's end no call is answered.
func TestHookAfterTheEnd(t *testing.T) {
	t.Parallel()
	k := &endpoint{token: "right", ready: make(chan struct{}), ask: func([]byte) ([]byte, error) { t.Error("asked"); return nil, nil }}
	k.end()
	k.end()
	r := httptest.NewRequest("POST", "/hook", nil)
	r.Header.Set("Authorization", "Bearer right")
	w := httptest.NewRecorder()
	if k.ServeHTTP(w, r); w.Code != 503 {
		t.Errorf("%d, want 503", w.Code)
	}
	(*endpoint)(nil).end()
}

func TestFilesStayWithin(t *testing.T) {
	t.Parallel()
	h := &host{dir: t.TempDir()}
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/etc/x"} {
		if err := h.writeFiles(map[string][]byte{name: nil}); err == nil {
			t.Errorf("%q is written", name)
		}
	}
	if err := h.writeFiles(map[string][]byte{"a": []byte("x")}); err != nil {
		t.Error(err)
	}
}
