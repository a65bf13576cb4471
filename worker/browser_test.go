package worker

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/host"
	"coppice/internal/browser"
	"coppice/internal/redact"
	"coppice/store"
)

// evidence is a picture with bytes that would be masked in text.
var evidence = []byte("\x89PNG\r\n\x1a\n\x00 cop_" + strings.Repeat("A", 40) + " sk-ant-api03-" + strings.Repeat("b", 90) + " \xff\n")

// keepPicture sends a picture to the host of a session, as its browser does.
func keepPicture(dir string) int {
	ctx := context.Background()
	c, err := host.Dial(ctx, dir)
	if err == nil {
		err = c.Keep(ctx, evidence)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestAPictureIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	self, err := os.Executable()
	b.must(err)
	if got := redact.New().Bytes(evidence); slices.Equal(got, evidence) {
		t.Fatal("nothing would be taken out of it")
	}
	// The patterns that are searched in a failed session's text are not searched
	// in its pictures.
	b.project.Policy.Critical = []coppice.FailurePattern{{Match: "PNG"}}
	b.update(func(tx store.Tx) error { return tx.Projects.Put(&b.project) })
	s := b.sessionDir(1)
	id, spec := b.verify(fmt.Sprintf("cases: [{role: verify, steps: [{run: '%s=keep %s %s'}, {say: \"STEP 1: PASS\"}]}]", roleVar, self, s), func(spec *coppice.RunSpec) {
		if b.sessionDir(spec.Session.ID) != s {
			t.Fatalf("the session is %d", spec.Session.ID)
		}
	})
	b.start()
	r := result[coppice.RunResult](b, b.finished(id))
	if r.Failure != nil {
		t.Fatal(r.Failure)
	}
	b.must(b.store.View(b.ctx, func(r store.Reader) error {
		list, err := r.Outputs.After(spec.Session.ID, -1, 1000, coppice.OutputImage)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d pictures: %v", len(list), err)
		}
		picture, err := r.Outputs.Picture(spec.Session.ID, list[0].Offset)
		if err != nil || !slices.Equal(picture.Data, evidence) {
			t.Errorf("kept %q: %v", picture.Data, err)
		}
		return nil
	}))
}

func TestServersOfASession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"chromium", "npx"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	project := map[string]coppice.MCPServer{"orch": {URL: "http://127.0.0.1:1"}}
	own := map[string]coppice.MCPServer{"browser": {Command: []string{"mine"}}}
	full := []string{"PATH=" + dir, "HOME=/home/dev", "ANTHROPIC_API_KEY=hidden", "TMPDIR=/var/tmp"}
	cfg := []string{"/bin/coppice", "browser"}
	for name, c := range map[string]struct {
		spec    coppice.RunSpec
		profile coppice.Profile
		environ []string
		cfg     []string
		names   []string
		class   coppice.Class
		says    string
		started []string // the end of its command, if it is not the usual one
	}{
		"without a browser":   {spec: coppice.RunSpec{MCP: project}, names: []string{"orch"}},
		"with one":            {spec: coppice.RunSpec{MCP: project, Browser: true}, environ: full, cfg: cfg, names: []string{"browser", "orch"}},
		"with one alone":      {spec: coppice.RunSpec{Browser: true}, environ: full, cfg: cfg, names: []string{"browser"}},
		"the project's own":   {spec: coppice.RunSpec{MCP: own, Browser: true}, names: []string{"browser"}},
		"the project's named": {spec: coppice.RunSpec{MCP: project, Browser: true, BrowserServer: coppice.BrowserServer{Name: "orch"}}, names: []string{"orch"}},
		"configured": {spec: coppice.RunSpec{MCP: own, Browser: true, BrowserServer: coppice.BrowserServer{Name: "devtools", Package: "mine@2", Args: []string{"--no-performance-crux"}}}, environ: full, cfg: cfg, names: []string{"browser", "devtools"},
			started: []string{"mine@2", "--no-performance-crux"}},
		"no tool servers":    {spec: coppice.RunSpec{Browser: true}, profile: coppice.Profile{MCP: "none"}, environ: full, cfg: cfg, class: coppice.ClassCapability, says: "can have no browser"},
		"no Chromium":        {spec: coppice.RunSpec{Browser: true}, environ: []string{"PATH=/nowhere"}, cfg: cfg, class: coppice.ClassEnvironment, says: "install Chromium"},
		"a Chromium too few": {spec: coppice.RunSpec{Browser: true}, environ: append(full[:len(full):len(full)], browser.ChromiumVar+"=/nowhere/chromium"), cfg: cfg, class: coppice.ClassEnvironment, says: "verify.browser"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := maps.Clone(c.spec.MCP)
			w := &Worker{cfg: Config{Environ: c.environ, Browser: c.cfg}}
			got, err := w.servers(c.spec, c.profile, "/state/sessions/7")
			if c.class != "" {
				f := failure(err)
				if f == nil || f.Class != c.class || !strings.Contains(f.Text+f.Fix, c.says) {
					t.Fatalf("%+v", f)
				}
				return
			}
			if err != nil || !slices.Equal(slices.Sorted(maps.Keys(got)), c.names) {
				t.Fatalf("%v, %v", got, err)
			}
			if len(c.spec.MCP) != len(before) {
				t.Error("the spec has changed")
			}
			if c.cfg == nil || !c.spec.Browser {
				return
			}
			want := []string{"/bin/coppice", "browser", "--session", "/state/sessions/7", "--chromium", dir + "/chromium", "--", dir + "/npx", "--yes"}
			if c.started == nil {
				c.started = []string{"chrome-devtools-mcp@" + browser.Version}
			}
			want = append(want, c.started...)
			if b := got[c.spec.BrowserServer.ServerName()]; !slices.Equal(b.Command, want) || b.Env["HOME"] != "/home/dev" || b.Env["TMPDIR"] != "/var/tmp" || len(b.Env) != 3 {
				t.Errorf("it is started by %q with %v", b.Command, b.Env)
			}
		})
	}
}

func TestAMissingBrowserIsReportedBeforeTheAgentStarts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.environ = append(b.environ, browser.ChromiumVar+"=/nowhere/chromium")
	b.browser = []string{"/bin/coppice", "browser"}
	b.open()
	id, spec := b.verify("cases: [{role: verify, steps: [say: never]}]", func(s *coppice.RunSpec) { s.Browser = true })
	b.start()
	w := b.finished(id)
	if w.Failure == nil || w.Failure.Class != coppice.ClassEnvironment || !strings.Contains(w.Failure.Text, "/nowhere/chromium") || !strings.Contains(w.Failure.Fix, "verify.browser") {
		t.Errorf("%+v", w.Failure)
	}
	if phase, _, _, err := host.Inspect(b.sessionDir(spec.Session.ID)); phase != host.PhaseNone || err != nil {
		t.Errorf("its host is %s: %v", phase, err)
	}
}
