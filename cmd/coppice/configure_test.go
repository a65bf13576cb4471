package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice/cmd/coppice/cli"
)

// The user's own configuration is changed in any directory, without a server.
func TestConfigOfTheUser(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	path := filepath.Join(dir, "coppice", "config.yaml")
	run := func(args ...string) (code int, out, errs string) {
		t.Helper()
		var o, e bytes.Buffer
		p := &program{env: cli.Env{Stdout: &o, Stderr: &e, Dir: t.TempDir()}}
		code = p.run(t.Context(), append([]string{"config"}, args...))
		return code, o.String(), e.String()
	}
	read := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if code, out, errs := run("set", "--user", "notify.notifiers.phone", "{kind: ntfy, to: [a-topic]}"); code != 0 || out != "notify.notifiers.phone is set in "+path+"\n" {
		t.Fatalf("%d %q %q", code, out, errs)
	}
	if code, out, errs := run("set", "--user", "notify.pause", "5m", "--json"); code != 0 || !strings.Contains(out, `"value": "5m"`) || !strings.Contains(out, path) {
		t.Errorf("%d %q %q", code, out, errs)
	}
	const both = "notify: {notifiers: {phone: {kind: ntfy, to: [a-topic]}}, pause: 5m}\n"
	if read() != both {
		t.Errorf("the file is %q, want %q", read(), both)
	}
	if code, out, errs := run("get", "--user", "notify.pause"); code != 0 || out != "5m\n" {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if code, _, errs := run("set", "--user", "notify.pause", "2d"); code == 0 || !strings.Contains(errs, "use at most 1d") || read() != both {
		t.Errorf("%d %q, the file is %q", code, errs, read())
	}
	if code, _, errs := run("set", "--user", "limits.sessions", "2"); code == 0 || !strings.Contains(errs, "unknown key") {
		t.Errorf("a key of coppice.yaml: %d %q", code, errs)
	}
	if code, out, errs := run("unset", "--user", "notify.pause"); code != 0 || !strings.Contains(out, "unset in") || strings.Contains(read(), "pause") {
		t.Errorf("%d %q %q, the file is %q", code, out, errs, read())
	}
}
