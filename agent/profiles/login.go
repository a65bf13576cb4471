package profiles

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/internal/environ"
)

// LoginState says whether somebody is logged in to an agent.
type LoginState string

// The states of a login.
const (
	LoginYes     LoginState = "yes"
	LoginNo      LoginState = "no"
	LoginUnknown LoginState = "unknown"
)

// LoginFound is what is known of an agent's login.
type LoginFound struct {
	State LoginState
	By    string // the variable, the file or the command that told; never a value
}

// Login tells whether somebody is logged in to an agent. A variable of the
// profile's login_env tells first, then a file of its login_files, then its
// login command. Files are looked for and never read. That no variable and no
// file is there says nothing, since keys also lie in key chains and settings:
// only the command can say no, and one that does not end while ctx lasts says
// nothing either.
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

// holds tells whether there is a file with something in it.
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

// askLogin runs the login command. What it prints is thrown away: it may name
// the account, or a part of a key.
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
