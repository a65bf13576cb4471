package browser

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		has      []string // programs in PATH
		environ  []string // DIR stands for a directory with them
		pkg      string
		chromium string
		server   []string
		missing  string
	}{
		"by npx":       {has: []string{"chromium", "npx"}, chromium: "DIR/chromium", server: []string{"DIR/npx", "--yes", "chrome-devtools-mcp@" + Version}},
		"by itself":    {has: []string{"google-chrome", "npx", "chrome-devtools-mcp"}, chromium: "DIR/google-chrome", server: []string{"DIR/chrome-devtools-mcp"}},
		"the first":    {has: []string{"google-chrome", "chromium-browser", "npx"}, chromium: "DIR/chromium-browser", server: []string{"DIR/npx", "--yes", "chrome-devtools-mcp@" + Version}},
		"named":        {has: []string{"chromium", "mine", "own", "npx"}, environ: []string{"CHROME_PATH=DIR/mine", "COPPICE_BROWSER_MCP=DIR/own"}, chromium: "DIR/mine", server: []string{"DIR/own"}},
		"a package":    {has: []string{"chromium", "npx", "chrome-devtools-mcp"}, pkg: "@mine/devtools@2", chromium: "DIR/chromium", server: []string{"DIR/npx", "--yes", "@mine/devtools@2"}},
		"named first":  {has: []string{"chromium", "own"}, pkg: "@mine/devtools@2", environ: []string{"COPPICE_BROWSER_MCP=DIR/own"}, chromium: "DIR/chromium", server: []string{"DIR/own"}},
		"no npx":       {has: []string{"chromium"}, chromium: "", missing: "npx"},
		"wrong name":   {has: []string{"chromium", "npx"}, environ: []string{"CHROME_PATH=DIR/nowhere"}, missing: "CHROME_PATH names DIR/nowhere: it does not exist"},
		"a directory":  {has: []string{"chromium", "npx"}, environ: []string{"CHROME_PATH=DIR"}, missing: "it cannot be run"},
		"relative":     {has: []string{"chromium", "npx"}, environ: []string{"CHROME_PATH=chromium"}, missing: "absolute"},
		"wrong server": {has: []string{"chromium", "npx"}, environ: []string{"COPPICE_BROWSER_MCP=DIR/plain"}, missing: "COPPICE_BROWSER_MCP names DIR/plain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put := func(name string, mode os.FileMode) {
				if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range c.has {
				put(p, 0o755)
			}
			put("plain", 0o644)
			at := func(s string) string { return strings.ReplaceAll(s, "DIR", dir) }
			environ := []string{"PATH=relative:" + dir}
			for _, kv := range c.environ {
				environ = append(environ, at(kv))
			}
			got, err := Find(environ, c.pkg)
			if c.missing != "" {
				var m *Missing
				if !errors.As(err, &m) || !strings.Contains(m.What, at(c.missing)) || m.Fix == "" {
					t.Fatalf("found %+v, %v; want that %s is missing", got, err, at(c.missing))
				}
				return
			}
			var server []string
			for _, a := range c.server {
				server = append(server, at(a))
			}
			if err != nil || got.Chromium != at(c.chromium) || !slices.Equal(got.Server, server) {
				t.Fatalf("found %+v, %v; want %s and %q", got, err, at(c.chromium), server)
			}
		})
	}
}

func TestFindNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" {
		t.Skip("a Mac has it elsewhere")
	}
	var m *Missing
	if _, err := Find(nil, ""); !errors.As(err, &m) || !strings.Contains(m.Fix, "install Chromium") {
		t.Error(err)
	}
}

// An argument of the project replaces the usual one of the same name.
func TestArguments(t *testing.T) {
	t.Parallel()
	c := Config{Found: Found{Chromium: "/c", Server: []string{"npx", "--yes", "x", "--viewport=800x600", "--no-performance-crux"}}}
	if got, want := strings.Join(c.arguments("/p"), " "), "--headless --userDataDir=/p --executablePath=/c --no-usage-statistics"; got != want {
		t.Errorf("arguments %s, want %s", got, want)
	}
	c = Config{Found: Found{Chromium: "/c", Server: []string{"x"}}, Root: true}
	if got := strings.Join(c.arguments("/p"), " "); !strings.Contains(got, "--viewport=1280x720 --no-usage-statistics --no-performance-crux --chromeArg=--no-sandbox") {
		t.Errorf("arguments %s", got)
	}
}
