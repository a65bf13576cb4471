//go:build linux

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/test/ports"
)

// previewed is a world with an app, whose agent waits for a message in its
// workspace.
func previewed(t *testing.T, serve string) (w *world, s *server, key string) {
	t.Helper()
	ports.Alone(t, "app")
	if serve != "" {
		serve = "workspace: {serve: {" + serve + "}}\n"
	}
	w = newWorld(t, files{
		"coppice.yaml": policy + serve,
		".coppice/scripted.yaml": `cases:
  - {match: "", steps: [{write: {path: page.html, content: "hello\n"}}, {wait_message: true}]}
`})
	w.Extra = append(w.Extra, "ANTHROPIC_API_KEY=an-agents-own-key")
	s = w.serve()
	key = w.new("A page")
	w.working(key, coppice.SessionIdle)
	return w, s, key
}

// serveSelf is the app: the test binary serves the workspace.
func serveSelf(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("run: exec %s %s", self, serveArg)
}

// opens checks that an address shows the page.
func opens(t *testing.T, address string) {
	t.Helper()
	res, err := http.Get(strings.TrimSpace(address) + "page.html")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || string(b) != "hello\n" {
		t.Errorf("the page shows %q: %v", b, err)
	}
}

// A preview runs beside the agent, outlives a killed server, and ends with the
// workspace.
func TestAPreviewEndsWithItsWorkspace(t *testing.T) {
	t.Parallel()
	w, s, key := previewed(t, serveSelf(t))
	address := w.cli("preview", key)
	opens(t, address)
	for _, p := range w.Processes() {
		if slices.Contains(p.Argv, serveArg) && slices.ContainsFunc(p.Environ, func(v string) bool { return strings.Contains(v, "an-agents-own-key") }) {
			t.Error("the app has the agent's key")
		}
	}
	if d := w.task(key); d.Preview == nil || d.Preview.State != coppice.PreviewReady || d.Preview.Port == 0 || d.Preview.ReadyAt.IsZero() || d.Preview.By == "" {
		t.Errorf("preview %+v", d.Preview)
	}
	s.Kill()
	opens(t, address)
	w.serve()
	if got := w.cli("preview", key); got != address {
		t.Errorf("after the restart it is at %q, not %q", got, address)
	}
	opens(t, address)
	log := w.reads("preview", key, "--log", "-f")
	log.until("serving the directory")
	w.cli("send", key, "continue")
	w.landed(key)
	d := w.await(key, "the end of the preview", func(d api.TaskDetail) bool { return !d.Preview.Live() })
	if d.Preview.State != coppice.PreviewStopped || !strings.Contains(d.Preview.Reason, "workspace was removed") {
		t.Errorf("preview %+v", d.Preview)
	}
	log.end()
	if n := w.apps(); n != 0 {
		t.Errorf("%d apps are left", n)
	}
	if r := w.try(w.repo, "", "preview", key); r.code != 1 || !strings.Contains(r.err, "has no workspace") {
		t.Errorf("a preview without a workspace: %d %s", r.code, r.err)
	}
}

// A person stops a preview, and can start it again.
func TestAPreviewIsStopped(t *testing.T) {
	t.Parallel()
	w, s, key := previewed(t, serveSelf(t))
	for range 2 {
		opens(t, w.cli("preview", key))
		if out := w.cli("preview", key, "--log"); !strings.Contains(out, "serving the directory") {
			t.Errorf("its log is %q", out)
		}
		if out := w.cli("preview", key, "--stop"); !strings.Contains(out, "is stopped") {
			t.Errorf("--stop says %q", out)
		}
		if n := w.apps(); n != 0 {
			t.Errorf("%d apps are left", n)
		}
	}
	s.Stop(t) // its worker cleans up after the result is stored
	for _, name := range w.entries("sessions") {
		if strings.HasPrefix(name, "preview-") {
			t.Errorf("%s is left", name)
		}
	}
}

// The host of a preview is killed. Its app ends, and the task says so.
func TestAPreviewWhoseHostIsKilled(t *testing.T) {
	t.Parallel()
	w, _, key := previewed(t, serveSelf(t))
	w.cli("preview", key)
	w.only("hosts of previews", func(p proc) bool {
		dir, ok := p.IsHost()
		return ok && strings.Contains(dir, "preview-")
	}).Kill()
	d := w.await(key, "the end of the preview", func(d api.TaskDetail) bool { return !d.Preview.Live() })
	if d.Preview.State != coppice.PreviewFailed || !strings.Contains(d.Preview.Reason, "was killed") {
		t.Errorf("preview %+v", d.Preview)
	}
	if n := w.apps(); n != 0 {
		t.Errorf("%d apps are left", n)
	}
}

// An app that cannot be shown says why, with the end of its log.
func TestAPreviewThatFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ serve, says string }{
		"dies":        {`run: "echo the database is missing; exit 3"`, "ended with exit code 3 before it was ready; its last output:\nthe database is missing"},
		"never ready": {`run: "echo thinking; exec cat /dev/zero > /dev/null", timeout: 1s`, "was not ready within 1s"},
		"missing":     {"", "workspace.serve is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, key := previewed(t, c.serve)
			r := w.try(w.repo, "", "preview", key)
			if r.code != 1 || !strings.Contains(r.err, c.says) || !strings.Contains(r.err, "→") {
				t.Errorf("%d %s", r.code, r.err)
			}
			for _, p := range w.Processes() {
				if slices.Contains(p.Argv, "/dev/zero") {
					t.Errorf("still running: %q", p.Argv)
				}
			}
		})
	}
}
