package process

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func FuzzParseStat(f *testing.F) {
	const tail = " S 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0"
	f.Add([]byte("12 (sh)" + tail))
	f.Add([]byte("12 (a) R (b c)" + tail))
	f.Add([]byte("12 (sh) S"))
	f.Add([]byte(")("))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = parseStat(b) // must not panic
		p, err := parseStat(fmt.Appendf(nil, "12 (%s)%s", b, tail))
		if err != nil || p.pid != 12 || p.ppid != 7 || p.pgid != 8 || p.sid != 9 || p.start != 4242 || p.dead {
			t.Fatalf("%+v, %v", p, err)
		}
	})
}

func TestSweepByCgroup(t *testing.T) {
	t.Parallel()
	c, err := NewCgroup(CgroupName("app 1/../../x", t.Name()))
	if err != nil {
		t.Skip(err)
	}
	defer c.Close()
	if !ours(c.Path) || strings.Contains(c.Path, "..") {
		t.Fatalf("path %s", c.Path)
	}
	_, pids := crowd(t, "crowd", "", 4, func(cmd *exec.Cmd) { c.Place(cmd.SysProcAttr) })
	if err := killCgroup("/sys/fs/cgroup"); err == nil {
		t.Error("a cgroup that is not ours was killed")
	}
	sweep(t, Mark{Cgroup: c.Path})
	if n := alive(pids); n != 0 {
		t.Errorf("%d still live", n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for range 2 {
		if err := RemoveCgroup(ctx, c.Path); err != nil {
			t.Fatal(err)
		}
	}
	sweep(t, Mark{Cgroup: c.Path}) // a missing one is not an error
}
