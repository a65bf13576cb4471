package profiles

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"coppice"
	"coppice/internal/environ"
)

// LoginState says whether the user is logged in to an agent.
type LoginState string

// The states of a login.
const (
	LoginYes     LoginState = "yes"
	LoginNo      LoginState = "no"
	LoginUnknown LoginState = "unknown"
)

// LoginFound is what is known about an agent's login.
type LoginFound struct {
	State LoginState
	By    string // the variable, the file or the command that shows it; never a value

	// Settings is the file of login_config because of which the agent can work
	// without a login.
	Settings string
}

// Login returns whether the user is logged in to an agent. A variable of the
// profile's login_env counts first, then a file of its login_files, then its
// login command. These files are not read. A missing variable or file means
// nothing, because keys can also be in key chains and settings. Only the command can
// say no, and not if a file of login_config says that the agent can work without a
// login. A command that does not end before ctx says nothing either.
func Login(ctx context.Context, p coppice.Profile, env []string) LoginFound {
	for _, name := range p.LoginEnv {
		if p.Env[name] != "" || environ.Get(env, name) != "" {
			return LoginFound{State: LoginYes, By: name}
		}
	}
	for _, file := range p.LoginFiles {
		if holds(file, environ.Get(env, "HOME")) {
			return LoginFound{State: LoginYes, By: file}
		}
	}
	if len(p.Login) == 0 {
		return LoginFound{State: LoginUnknown}
	}
	found := LoginFound{State: askLogin(ctx, p, env), By: strings.Join(p.Login, " ")}
	for _, file := range slices.Sorted(maps.Keys(p.LoginConfig)) {
		if found.State == LoginNo && matches(file, environ.Get(env, "HOME"), p.LoginConfig[file]) {
			found = LoginFound{LoginUnknown, file, file}
		}
	}
	return found
}

// mostConfig limits how much of a settings file is read.
const mostConfig = 1 << 20

// matches reports whether a line of a file matches a pattern.
func matches(file, home, pattern string) bool {
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil || !holds(file, home) {
		return false
	}
	f, err := os.Open(inHome(file, home))
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostConfig))
	return err == nil && re.Match(text)
}

// inHome replaces ~ by the home directory. It is empty without one.
func inHome(file, home string) string {
	rest, below := strings.CutPrefix(file, "~/")
	switch {
	case !below:
		return file
	case !filepath.IsAbs(home):
		return ""
	}
	return filepath.Join(home, rest)
}

// holds reports whether a file exists and is not empty.
func holds(file, home string) bool {
	info, err := os.Stat(inHome(file, home))
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// askLogin runs the login command. Its output is discarded, because it can
// contain the account, or a part of a key.
func askLogin(ctx context.Context, p coppice.Profile, env []string) LoginState {
	state, err := probe(ctx, p.Login, p, env, nil)
	switch {
	case err != nil || ctx.Err() != nil:
		return LoginUnknown
	case state.Success():
		return LoginYes
	case state.ExitCode() > 0:
		return LoginNo
	}
	return LoginUnknown
}
