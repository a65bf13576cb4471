package setup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/cmd/coppice/setup"
	"coppice/config"
	"coppice/features"
)

// Fallback, tracks, browser, features and guides come from flags or answers. Without
// either, nothing is written.
func TestInitMore(t *testing.T) {
	t.Parallel()
	run := runner(t)
	const app = `{"dependencies": {"next": "1"}}`
	for name, c := range map[string]struct {
		o       setup.Options
		answers string
		code    coppice.Code
		more    bool
	}{
		"flags": {setup.Options{Yes: true, Fallback: []string{"two", "one:small"}, Tracks: []string{"core", "docs"}, Browser: true, Feature: "Log in", Guides: true}, "", "", true},
		// base, separate branch, agent, checks, serve, then the questions of this test
		"answers":          {setup.Options{}, "\n\n\nmake\n\ntwo, one:small\ncore docs\nyes\nLog in\nyes\n", "", true},
		"defaults":         {setup.Options{}, "", "", false},
		"nobody to ask":    {setup.Options{Yes: true}, "", "", false},
		"itself":           {setup.Options{Yes: true, Fallback: []string{"one"}}, "", coppice.EInvalid, false},
		"a track twice":    {setup.Options{Yes: true, Tracks: []string{"a", "a"}}, "", coppice.EInvalid, false},
		"not a track":      {setup.Options{Yes: true, Tracks: []string{"-a"}}, "", coppice.EInvalid, false},
		"a feature's name": {setup.Options{Yes: true, Feature: "a\nb"}, "", coppice.EInvalid, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t, run, []file{{Name: "package.json", Data: []byte(app)}})
			c.o.Dir, c.o.Agents = dir, []string{"one", "two"}
			out, err := setupInit(t, run, c.o, c.answers)
			if coppice.ErrorCode(err) != c.code {
				t.Fatalf("%v\n%s", err, out)
			}
			_, guide := os.Stat(filepath.Join(dir, ".coppice/CONVENTIONS.md"))
			_, listed := os.Stat(filepath.Join(dir, "features.json"))
			if c.more != (guide == nil) || c.more != (listed == nil) {
				t.Errorf("files: %v, %v\n%s", guide, listed, out)
			}
			if c.code != "" {
				if _, err := os.Stat(filepath.Join(dir, config.File)); err == nil {
					t.Error("a refused init wrote coppice.yaml")
				}
				return
			}
			p := load(t, dir)
			if !c.more {
				if len(p.Agent.Fallback) > 0 || len(p.Tracks) != 1 || p.Verify.Browser || p.Features+p.Instructions != "" {
					t.Errorf("%+v", p)
				}
				return
			}
			if strings.Join(p.Agent.Fallback, " ") != "two one:small" || len(p.Tracks) != 2 || !p.Tracks[0].Default || !p.Verify.Browser || p.Features != "features.json" || p.Instructions != ".coppice/PROJECT.md" {
				t.Errorf("%+v\n%s", p, out)
			}
			text, err := os.ReadFile(filepath.Join(dir, p.Features))
			if err != nil {
				t.Fatal(err)
			}
			if list, err := features.Parse(p.Features, text); err != nil || len(list.Features) != 1 || list.Features[0].Name != "Log in" {
				t.Errorf("%v %+v", err, list)
			}
		})
	}
}

// The checks are tried if the person wants that, and init says which fail.
func TestInitTriesTheChecks(t *testing.T) {
	t.Parallel()
	run := runner(t)
	for name, c := range map[string]struct {
		o       setup.Options
		answers string
		err     error
		says    string
	}{
		"a flag":     {setup.Options{Yes: true, TryNow: true}, "", nil, "FAILED  go vet ./... (2.0 s): exited with 1 on the untouched main"},
		"yes":        {setup.Options{}, "\n\n\n\n\n\n\nyes\n", nil, "passed  go test ./... (1.0 s)"},
		"no":         {setup.Options{}, "\n\n\n\n\n\nno\n", nil, ""},
		"not asked":  {setup.Options{Yes: true}, "", nil, ""},
		"cannot run": {setup.Options{Yes: true, TryNow: true}, "", errors.New("no space"), "the checks cannot run: no space"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried := false
			c.o.Dir = repository(t, run, []file{{Name: "go.mod", Data: []byte("module x\n")}})
			c.o.Try = func(context.Context) ([]setup.Tried, error) {
				tried = true
				return []setup.Tried{{Command: "go vet ./...", Problem: "exited with 1", Took: 2 * time.Second}, {Command: "go test ./...", Took: time.Second}}, c.err
			}
			out, err := setupInit(t, run, c.o, c.answers)
			if err != nil || tried != (c.says != "") || !strings.Contains(out, c.says) {
				t.Errorf("%v, tried %v\n%s", err, tried, out)
			}
		})
	}
}
