//go:build linux

package forges_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice/internal/filelock"
	"coppice/test/testfile"
)

// fakeGo is the go command as far as the script uses it. It waits for the pipe
// before it builds, and builds a shell script.
const fakeGo = `#!/bin/sh
echo "$*" >>"$FAKE/calls"
case "$1 $2" in
"mod download") mkdir -p "$FAKE/mod/code.gitea.io/gitea@v1.24.6" ;;
"env GOMODCACHE") echo "$FAKE/mod" ;;
"build "*)
	read -r result <"$FAKE/pipe"
	printf '#!/bin/sh\necho version\n' >../gitea && chmod +x ../gitea
	exit "$result" ;;
esac
`

// TestInstall builds in the background, one time, and again after a failure.
func TestInstall(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"flock", "cc"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "bin", "go"), fakeGo)
	if err := os.Chmod(filepath.Join(dir, "bin", "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfifo", filepath.Join(dir, "pipe")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cache := filepath.Join(dir, "cache", "forges", "gitea-1.24.6")
	install := func() string {
		t.Helper()
		cmd := exec.Command("./install.sh")
		cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + dir, "FAKE=" + dir, "COPPICE_TEST_CACHE=" + filepath.Join(dir, "cache")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	// end lets the build end, and waits for it as the tests do.
	end := func(result string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "pipe"), []byte(result+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		lock, err := filelock.Wait(t.Context(), filepath.Join(cache, "lock"))
		if err != nil {
			t.Fatal(err)
		}
		filelock.Release(lock)
	}
	builds := func() int {
		calls, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count("\n"+string(calls), "\nbuild ")
	}
	exists := func(name string) bool { _, err := os.Stat(filepath.Join(cache, name)); return err == nil }

	if out := install(); !strings.Contains(out, "in the background") || exists("installed") {
		t.Errorf("the first install says %q", out)
	}
	if out := install(); out != "" {
		t.Errorf("an install during a build says %q", out)
	}
	if end("1"); exists("installed") || builds() != 1 {
		t.Errorf("after a failed build: installed %v, %d builds", exists("installed"), builds())
	}
	install()
	if end("0"); !exists("installed") || exists("source") || builds() != 2 {
		log, _ := os.ReadFile(filepath.Join(cache, "build.log"))
		t.Errorf("after a build: installed %v, %d builds\n%s", exists("installed"), builds(), log)
	}
	if out := install(); out != "" || builds() != 2 {
		t.Errorf("an install of what is installed says %q, %d builds", out, builds())
	}
}
