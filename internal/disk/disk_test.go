package disk_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"coppice/internal/disk"
)

func TestOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	empty := disk.Of(t.Context(), dir)
	must(os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
	must(os.WriteFile(filepath.Join(dir, "a", "b", "one"), make([]byte, 1<<20), 0o600))
	one := disk.Of(t.Context(), dir)
	if got := one.Bytes - empty.Bytes; got < 1<<20 || got > 1<<20+64<<10 || one.Files != 1 || one.Partial {
		t.Errorf("a file of 1 MiB takes %+v, nothing takes %+v", one, empty)
	}
	must(os.Link(filepath.Join(dir, "a", "b", "one"), filepath.Join(dir, "two")))
	must(os.Symlink("/", filepath.Join(dir, "root")))
	if both := disk.Of(t.Context(), dir); both.Bytes-one.Bytes > 64<<10 || both.Files != 3 {
		t.Errorf("with another name and a link it takes %+v", both)
	}
	f, err := os.Create(filepath.Join(dir, "hole"))
	must(err)
	must(f.Truncate(1 << 30))
	must(f.Close())
	if holes := disk.Of(t.Context(), dir); holes.Bytes > 2<<20 {
		t.Errorf("a file with a hole takes %+v", holes)
	}
	if none := disk.Of(t.Context(), filepath.Join(dir, "none")); none != (disk.Size{}) {
		t.Errorf("what is not there takes %+v", none)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if cut := disk.Of(over, dir); !cut.Partial || cut.Files != 0 {
		t.Errorf("a cancelled measurement returns %+v", cut)
	}
	if free, err := disk.Free(dir); err != nil || free <= 0 {
		t.Errorf("%d bytes are free, %v", free, err)
	}
}
