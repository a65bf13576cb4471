// Package browser gives a session a browser of its own.
//
// Find looks for what that takes: a Chromium, and a way to run
// chrome-devtools-mcp, the tool server that drives it. Run starts the tool
// server with a profile of its own, passes its protocol through unchanged, and
// keeps every picture that goes by.
package browser

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"coppice/internal/environ"
)

// Version is the version of chrome-devtools-mcp that is run unless another one
// is installed.
const Version = "1.11.0"

// The variables that name the two programs, for machines on which they are not
// found by themselves.
const (
	ChromiumVar = "CHROME_PATH"
	ServerVar   = "COPPICE_BROWSER_MCP"
)

const server = "chrome-devtools-mcp"

// Found is what a browser takes.
type Found struct {
	Chromium string   // its path
	Server   []string // how to start the tool server, without its arguments
}

// Missing says what a browser lacks on this machine, and the way out.
type Missing struct{ What, Fix string }

// Error implements error.
func (m *Missing) Error() string { return m.What + "; " + m.Fix }

// names are what Chromium is called, in the order in which they are tried.
var names = []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"}

// apps are where it is on a Mac, which has it in no PATH.
var apps = []string{
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// Find looks for a browser in an environment. The error is a *Missing. What a
// variable names is used or refused, never replaced by something else.
func Find(env []string) (Found, error) {
	chromium, err := findChromium(env)
	if err != nil {
		return Found{}, err
	}
	argv, err := findServer(env)
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

func findServer(env []string) ([]string, error) {
	const fix = "install Node.js 20.19 or newer with npx, or set " + ServerVar + " to the path of " + server
	if path := environ.Get(env, ServerVar); path != "" {
		if err := runnable(path); err != nil {
			return nil, &Missing{ServerVar + " names " + path + ": " + err.Error(), fix}
		}
		return []string{path}, nil
	}
	if path, err := environ.LookPath(server, env); err == nil {
		return []string{path}, nil
	}
	if path, err := environ.LookPath("npx", env); err == nil {
		return []string{path, "--yes", server + "@" + Version}, nil
	}
	return nil, &Missing{"there is no npx to start the verifier's browser with", fix}
}

func runnable(path string) error {
	if !filepath.IsAbs(path) {
		return errors.New("it is no absolute path")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("it is not there")
	case err != nil:
		return errors.New("it cannot be looked at")
	case info.IsDir() || info.Mode()&0o111 == 0:
		return errors.New("it cannot be run")
	}
	return nil
}
