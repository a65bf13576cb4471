package secret_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/internal/redact"
	"coppice/secret"
	"coppice/test/testfile"
)

const value = "s3cr3t-value-of-a-tracker"

// bench is a user's configuration and programs.
type bench struct {
	*secret.Resolver
	t    *testing.T
	root string
}

func setup(t *testing.T) *bench {
	t.Helper()
	root := testfile.Dir(t)
	b := &bench{t: t, root: root}
	for _, dir := range []string{"bin", "home", "config", "ring"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.Resolver = &secret.Resolver{
		Sources: map[string]secret.Source{}, Dir: filepath.Join(root, "config"), Redact: redact.New(), System: "linux",
		Environ: []string{"PATH=" + filepath.Join(root, "bin") + ":/usr/bin:/bin", "HOME=" + filepath.Join(root, "home"), "SET=" + value, "OTHER_KEY=hidden-from-commands",
			"DBUS_SESSION_BUS_ADDRESS=unix:path=/x"},
	}
	return b
}

func (b *bench) write(path, text string, mode fs.FileMode) string {
	b.t.Helper()
	path = filepath.Join(b.root, path)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// from resolves a secret of that source.
func (b *bench) from(s secret.Source) (string, error) {
	b.t.Helper()
	b.Sources["NAME"] = s
	return b.Resolve(b.t.Context(), "NAME")
}

// refused checks that a source is refused with a fix, and without the value.
func (b *bench) refused(what string, s secret.Source, code coppice.Code, says string) {
	b.t.Helper()
	got, err := b.from(s)
	if err == nil || got != "" || coppice.ErrorCode(err) != code {
		b.t.Errorf("%s: %q, %v; want no value and the code %s", what, got, err, code)
		return
	}
	e := coppice.Public(err)
	if e.Fix == "" || !strings.Contains(e.Cause, "NAME") || !strings.Contains(e.Cause, says) || strings.Contains(e.Error(), value) {
		b.t.Errorf("%s: %v", what, e)
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := secret.WriteFile(b.Dir, "STORED", value); err != nil {
		t.Fatal(err)
	}
	b.write("home/key", value+"\r\n\n", 0o600)
	b.write("config/odd", value, 0o400)
	for name, s := range map[string]secret.Source{
		"env": {Env: "SET"}, "stored": secret.StoredFile("STORED"), "home": {File: "~/key"}, "relative": {File: "odd"},
		"absolute": {File: filepath.Join(b.root, "home", "key")}, "command": {Command: []string{"echo", value}},
	} {
		if got, err := b.from(s); err != nil || got != value {
			t.Errorf("%s: %q, %v; want %q", name, got, err, value)
		}
	}
	if got := b.Redact.String("it is " + value); got != "it is "+redact.Mask {
		t.Errorf("after it was resolved, it is shown: %s", got)
	}
	info, err := os.Stat(filepath.Join(b.Dir, secret.Dir, "STORED"))
	dir, dirErr := os.Stat(filepath.Join(b.Dir, secret.Dir))
	if err != nil || dirErr != nil || info.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700 {
		t.Errorf("file %v, directory %v, %v, %v; want the modes 0600 and 0700", info, dir, err, dirErr)
	}
	for range 2 { // the second time there is nothing to remove
		if err := secret.RemoveFile(b.Dir, "STORED"); err != nil {
			t.Error(err)
		}
	}
	b.refused("removed", secret.StoredFile("STORED"), coppice.ENotFound, "does not exist")
}

func TestRefusedSources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.refused("unset", secret.Source{Env: "UNSET"}, coppice.ENotFound, "UNSET")
	b.refused("no source", secret.Source{}, coppice.EInvalid, "no source")
	b.refused("two sources", secret.Source{Env: "SET", Keyring: "NAME"}, coppice.EInvalid, "more than one")
	delete(b.Sources, "NAME")
	if _, err := b.Resolve(t.Context(), "NAME"); coppice.ErrorCode(err) != coppice.ENotFound || coppice.Public(err).Fix != "run: coppice secret set NAME" {
		t.Errorf("not set: %v", err)
	}
	for _, name := range []string{"../NAME", "a/b", ""} {
		if _, err := b.Resolve(t.Context(), name); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%q: %v", name, err)
		}
		if secret.WriteFile(b.Dir, name, value) == nil || secret.RemoveFile(b.Dir, name) == nil {
			t.Errorf("%q was written or removed", name)
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, mode := range []fs.FileMode{0o644, 0o640, 0o604, 0o620, 0o602} {
		path := b.write(fmt.Sprintf("config/open-%o", mode), value, mode)
		b.refused(mode.String(), secret.Source{File: path}, coppice.EForbidden, "other users")
	}
	link := filepath.Join(b.root, "config", "link")
	if err := os.Symlink(b.write("home/private", value, 0o600), link); err != nil {
		t.Fatal(err)
	}
	b.refused("a link", secret.Source{File: link}, coppice.EForbidden, "symbolic link")
	fifo := filepath.Join(b.root, "config", "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	b.refused("a pipe", secret.Source{File: fifo}, coppice.EForbidden, "regular")
	b.refused("a directory", secret.Source{File: filepath.Join(b.root, "home")}, coppice.EForbidden, "regular")
	b.refused("a device", secret.Source{File: "/dev/zero"}, coppice.EForbidden, "")
	b.refused("nothing", secret.Source{File: "nothing"}, coppice.ENotFound, "does not exist")
	b.refused("huge", secret.Source{File: b.write("config/huge", strings.Repeat("x", 1<<20), 0o600)}, coppice.ETooLarge, "larger")
	b.refused("binary", secret.Source{File: b.write("config/binary", value+"\x00\xff\xfe", 0o600)}, coppice.EInvalid, "not text")
	b.refused("empty", secret.Source{File: b.write("config/empty", "\n", 0o600)}, coppice.EInvalid, "empty")
	b.refused("short", secret.Source{File: b.write("config/short", "abc\n", 0o600)}, coppice.EInvalid, "shorter")
}

func TestCommands(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Within = time.Hour // nothing here ends by it
	b.write("bin/says", "#!/bin/sh\nexec cat\n", 0o755)
	b.write("bin/env-of", "#!/bin/sh\nenv | sort >\"$HOME/env\"\necho "+value+"\n", 0o755)
	b.write("bin/fails", "#!/bin/sh\necho "+value+"\necho \"cannot log in with "+value+" or ghp_"+strings.Repeat("a", 36)+"\" >&2\nexit 3\n", 0o755)
	b.write("bin/loud", "#!/bin/sh\nyes loud-and-long\n", 0o755)
	b.refused("a missing program", secret.Source{Command: []string{"no-such-program"}}, coppice.EUnavailable, "no-such-program")
	b.refused("silence", secret.Source{Command: []string{"says"}}, coppice.EUnavailable, "printed nothing")
	b.refused("too much", secret.Source{Command: []string{"loud"}}, coppice.ETooLarge, "16 KiB")
	b.refused("killed", secret.Source{Command: []string{"sh", "-c", "kill -9 $$"}}, coppice.EUnavailable, "killed")
	b.refused("failure", secret.Source{Command: []string{"fails"}}, coppice.EUnavailable, "exit status 3: cannot log in with [redacted] or [redacted]")
	if got, err := b.from(secret.Source{Command: []string{"env-of"}}); err != nil || got != value {
		t.Fatalf("%q, %v; want %q", got, err, value)
	}
	env, err := os.ReadFile(filepath.Join(b.root, "home", "env"))
	if err != nil || !strings.Contains(string(env), "HOME=") || !strings.Contains(string(env), "DBUS_SESSION_BUS_ADDRESS=") ||
		strings.Contains(string(env), "OTHER_KEY") || strings.Contains(string(env), "SET=") {
		t.Errorf("its environment, %v:\n%s", err, env)
	}
}

// A command that hangs is ended, with all that it started.
func TestHangingCommand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write("bin/hangs", "#!/bin/sh\nsleep 1000 &\necho $! >\"$HOME/child\"\nwait\n", 0o755)
	hangs := secret.Source{Command: []string{"hangs"}}
	b.Within = time.Nanosecond
	b.refused("a command that hangs", hangs, coppice.EUnavailable, "took longer")

	b.Within = 0
	pipe := filepath.Join(b.root, "home", "child")
	if err := errors.Join(os.RemoveAll(pipe), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := b.Resolve(ctx, "NAME")
		done <- err
	}()
	text, err := os.ReadFile(pipe) // waits for the command to write
	var pid int
	if _, scanErr := fmt.Sscan(string(text), &pid); err != nil || scanErr != nil {
		t.Fatalf("%q %v %v", text, err, scanErr)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	for running(pid) { // until the kernel has ended it
	}
}

// running reports whether a process runs and has not ended yet.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return syscall.Kill(pid, 0) == nil && !(err == nil && strings.Contains(string(stat), ") Z "))
}
