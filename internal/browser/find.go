// Package browser gives each session a separate browser.
//
// Find looks for Chromium, and for chrome-devtools-mcp, the tool server that
// controls it. Run starts the tool server with a new profile, passes its protocol
// through unchanged, and keeps every picture in it.
package browser

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"coppice/internal/environ"
)

// Version is the version of chrome-devtools-mcp that runs if none is installed.
const Version = "1.11.0"

// The variables that name the two programs if Find does not find them.
const (
	ChromiumVar = "CHROME_PATH"
	ServerVar   = "COPPICE_BROWSER_MCP"
)

const server = "chrome-devtools-mcp"

// Found has the programs of a browser.
type Found struct {
	Chromium string   // its path
	Server   []string // how to start the tool server, without its arguments
}

// Missing says what is missing for a browser on this machine, and how to fix it.
type Missing struct{ What, Fix string }

// Error implements error.
func (m *Missing) Error() string { return m.What + "; " + m.Fix }

// names are the names of Chromium, in the order in which they are tried.
var names = []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"}

// apps are the paths of Chromium on a Mac, where it is not in the PATH.
var apps = []string{
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// Find looks for a browser in an environment. The error is a *Missing. If a variable
// names a program, Find uses that one or fails. pkg is the npm package of the tool
// server; without it, Find uses the installed one, or the package of Version.
func Find(env []string, pkg string) (Found, error) {
	chromium, err := findChromium(env)
	if err != nil {
		return Found{}, err
	}
	argv, err := findServer(env, pkg)
	return Found{Chromium: chromium, Server: argv}, err
}

func findChromium(env []string) (string, error) {
	const fix = "install Chromium or Chrome, or set " + ChromiumVar + " to its path"
	if path := environ.Get(env, ChromiumVar); path != "" {
		if err := runnable(path); err != nil {
			return "", &Missing{ChromiumVar + " names " + path + ": " + err.Error(), fix}
		}
		return path, nil
	}
	for _, name := range names {
		if path, err := environ.LookPath(name, env); err == nil {
			return path, nil
		}
	}
	if runtime.GOOS == "darwin" {
		for _, path := range apps {
			if runnable(path) == nil {
				return path, nil
			}
		}
	}
	return "", &Missing{"there is no Chromium for the verifier's browser", fix}
}

func findServer(env []string, pkg string) ([]string, error) {
	const fix = "install Node.js 20.19 or newer with npx, or set " + ServerVar + " to the path of " + server
	if path := environ.Get(env, ServerVar); path != "" {
		if err := runnable(path); err != nil {
			return nil, &Missing{ServerVar + " names " + path + ": " + err.Error(), fix}
		}
		return []string{path}, nil
	}
	if path, err := environ.LookPath(server, env); err == nil && pkg == "" {
		return []string{path}, nil
	}
	if path, err := environ.LookPath("npx", env); err == nil {
		return []string{path, "--yes", cmp.Or(pkg, server+"@"+Version)}, nil
	}
	return nil, &Missing{"there is no npx to start the verifier's browser with", fix}
}

func runnable(path string) error {
	if !filepath.IsAbs(path) {
		return errors.New("it is not an absolute path")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("it does not exist")
	case err != nil:
		return errors.New("it cannot be read")
	case info.IsDir() || info.Mode()&0o111 == 0:
		return errors.New("it cannot be run")
	}
	return nil
}
