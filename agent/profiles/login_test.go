package profiles

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"coppice"
)

// script puts a program into a directory.
func script(t *testing.T, dir, name, body string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	bin, home, empty := t.TempDir(), t.TempDir(), t.TempDir()
	script(t, bin, "in", "echo s3cret; exit 0")
	script(t, bin, "out", "echo s3cret >&2; exit 1")
	script(t, bin, "killed", "kill -9 $$")
	script(t, bin, "reads", "read line && exit 1; exit 0") // ends at once only where stdin is closed
	script(t, bin, "where", `[ "$(pwd -P)" = "$(cd "$TMP_WANTED" && pwd -P)" ]`)
	script(t, bin, "sees", `[ "$MODE" = quiet ]`)
	write(t, filepath.Join(home, ".tool", "auth.json"), "s3cret")
	write(t, filepath.Join(home, ".tool", "hollow.json"), "")
	all := coppice.Profile{LoginEnv: []string{"A_KEY", "B_KEY"}, LoginFiles: []string{"~/.tool/none.json", "~/.tool/auth.json"}, Login: []string{"out", "status"}}
	write(t, filepath.Join(home, ".tool", "config.toml"), "# s3cret\nprovider = \"own\"\n")
	write(t, filepath.Join(empty, ".tool", "config.toml"), "# provider = none\n")
	settings := coppice.Profile{LoginConfig: map[string]string{"~/.tool/config.toml": `^provider\s*=`}, Login: []string{"out", "status"}}
	command := func(argv ...string) coppice.Profile { return coppice.Profile{Login: argv} }
	for _, c := range []struct {
		name  string
		p     coppice.Profile
		env   []string
		state LoginState
		by    string
	}{
		{"a variable comes first", all, []string{"HOME=" + home, "B_KEY=s3cret"}, LoginYes, "B_KEY"},
		{"an empty variable is none", all, []string{"HOME=" + home, "B_KEY="}, LoginYes, "~/.tool/auth.json"},
		{"then a file", all, []string{"HOME=" + home}, LoginYes, "~/.tool/auth.json"},
		{"then the command", all, []string{"HOME=" + empty}, LoginNo, "out status"},
		{"settings without a login", settings, []string{"HOME=" + home}, LoginUnknown, "~/.tool/config.toml"},
		{"other settings", settings, []string{"HOME=" + empty}, LoginNo, "out status"},
		{"settings and a login", coppice.Profile{LoginConfig: settings.LoginConfig, Login: []string{"in"}}, []string{"HOME=" + home}, LoginYes, "in"},
		{"without a home", all, nil, LoginNo, "out status"},
		{"the profile's own variable", coppice.Profile{LoginEnv: []string{"K"}, Env: map[string]string{"K": "s3cret"}}, nil, LoginYes, "K"},
		{"an empty file says nothing", coppice.Profile{LoginFiles: []string{"~/.tool/hollow.json"}}, []string{"HOME=" + home}, LoginUnknown, ""},
		{"a directory says nothing", coppice.Profile{LoginFiles: []string{"~/.tool"}}, []string{"HOME=" + home}, LoginUnknown, ""},
		{"a whole path", coppice.Profile{LoginFiles: []string{filepath.Join(home, ".tool/auth.json")}}, nil, LoginYes, filepath.Join(home, ".tool/auth.json")},
		{"nothing there, no command", coppice.Profile{LoginEnv: []string{"A_KEY"}}, nil, LoginUnknown, ""},
		{"no way to tell", coppice.Profile{}, nil, LoginUnknown, ""},
		{"the command says yes", command("in"), nil, LoginYes, "in"},
		{"the command was killed", command("killed"), nil, LoginUnknown, "killed"},
		{"there is no such command", command("nothing"), nil, LoginUnknown, "nothing"},
		{"it has no stdin", command("reads"), nil, LoginYes, "reads"},
		{"it runs in the temporary directory", command("where"), []string{"TMP_WANTED=" + os.TempDir()}, LoginYes, "where"},
		{"it has the profile's variables", coppice.Profile{Login: []string{"sees"}, Env: map[string]string{"MODE": "quiet"}}, []string{"MODE=loud"}, LoginYes, "sees"},
	} {
		got := Login(t.Context(), c.p, append([]string{"PATH=" + bin + ":/usr/bin:/bin"}, c.env...))
		if got.State != c.state || got.By != c.by {
			t.Errorf("%s: %+v, want %s by %q", c.name, got, c.state, c.by)
		}
		if strings.Contains(got.By, "s3cret") {
			t.Errorf("%s contains a secret", c.name)
		}
	}
}

// A probe that does not answer is ended with everything that it started. The
// real program is a child of a script, as with most agents, and holds a pipe
// open while it lives.
func TestLoginEnded(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	pipe := filepath.Join(bin, "alive")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	script(t, bin, "hangs", `sh -c 'exec 3>"$ALIVE"; echo up >&3; exec sleep 3600' & wait`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan LoginFound, 1)
	go func() {
		done <- Login(ctx, coppice.Profile{Login: []string{"hangs"}}, []string{"PATH=" + bin + ":/usr/bin:/bin", "ALIVE=" + pipe})
	}()
	f, err := os.Open(pipe) // waits for the other end
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := <-done; got.State != LoginUnknown || got.By != "hangs" {
		t.Errorf("a check that hangs: %+v, want unknown by hangs", got)
	}
	if rest, err := io.ReadAll(f); err != nil || len(rest) > 0 { // ends when nobody holds it any more
		t.Errorf("its child wrote %q (%v), want nothing and an end", rest, err)
	}
}
