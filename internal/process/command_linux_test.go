package process

import (
	"os"
	"testing"
)

// refusedCgroup returns a cgroup that the kernel refuses: it is another directory.
func refusedCgroup(t *testing.T) *Cgroup {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return &Cgroup{dir: dir}
}
