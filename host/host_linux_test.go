package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"coppice/test/testfile"
)

// A full disk ends the capture, not the agent, and the Exit says so.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("needs a small file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(mount, 2) }) // after the session's own
	b := setup(t, "talk", "numbers")
	b.dir = filepath.Join(mount, "session")
	b.start("")
	c := b.dial()
	testfile.FillDisk(t, filepath.Join(mount, "fill"))
	// The next page of the spool does not fit.
	for range 3000 {
		if err := c.Send(b.ctx, Message{Text: "next"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Stop(b.ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	x := b.ended()
	if x.Code != 0 || x.Signal != "" || !strings.Contains(x.Error, "could not be kept") {
		t.Errorf("exit %+v", x)
	}
	if want := strconv.Itoa(3000*8) + " bytes"; !strings.HasPrefix(x.Outcome.Summary, want) {
		t.Errorf("the driver saw %s, want %s", x.Outcome.Summary, want)
	}
}

// TestMemory measures a host in a program that has little else.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	t.Parallel()
	b := setup(t, "plain")
	bin := filepath.Join(t.TempDir(), "minimal")
	if out, err := exec.Command("go", "build", "-o", bin, "./testdata/minimal").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.l = Launcher{Argv: []string{bin}}
	b.spec.Profile.Command = []string{"/bin/sh", "-c", "while read line; do echo $line; done"}
	b.start("")
	c := b.dial()
	line := strings.Repeat("x", 1000)
	for range 200 {
		if err := c.Send(b.ctx, Message{Text: line}); err != nil {
			t.Fatal(err)
		}
	}
	b.until(func(out []byte) bool { return len(out) == 200*1001 })
	st, _ := b.phase(PhaseRunning)
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", st.PID))
	if err != nil {
		t.Skip(err)
	}
	// Private_Dirty would include pages of the program that were just built.
	// They are still dirty in the page cache, although all hosts share them.
	m := regexp.MustCompile(`Anonymous:\s+(\d+) kB`).FindSubmatch(rollup)
	kib, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("private memory of a host: %d KiB", kib)
	if kib > 6<<10 {
		t.Errorf("a host takes %d KiB, more than 6 MiB", kib)
	}
	if err := c.Stop(b.ctx, 0); err != nil {
		t.Fatal(err)
	}
	b.ended()
}
