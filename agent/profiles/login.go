package profiles

import (
	"context"
	"os"
	"path/filepath"
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
}

// Login returns whether the user is logged in to an agent. A variable of the
// profile's login_env counts first, then a file of its login_files, then its
// login command. Files are not read. A missing variable or file means nothing,
// because keys can also be in key chains and settings. Only the command can say
// no. A command that does not end before ctx says nothing either.
func Login(ctx context.Context, p coppice.Profile, env []string) LoginFound {
	for _, name := range p.LoginEnv {
		if p.Env[name] != "" || environ.Get(env, name) != "" {
			return LoginFound{LoginYes, name}
		}
	}
	for _, file := range p.LoginFiles {
		if holds(file, environ.Get(env, "HOME")) {
			return LoginFound{LoginYes, file}
		}
	}
	if len(p.Login) == 0 {
		return LoginFound{State: LoginUnknown}
	}
	return LoginFound{askLogin(ctx, p, env), strings.Join(p.Login, " ")}
}

// holds reports whether a file exists and is not empty.
func holds(file, home string) bool {
	if rest, below := strings.CutPrefix(file, "~/"); below {
		if !filepath.IsAbs(home) {
			return false
		}
		file = filepath.Join(home, rest)
	}
	info, err := os.Stat(file)
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
