package archive

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	from, to, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "a.tar.gz")
	if err := os.WriteFile(filepath.Join(from, ".env"), []byte("A=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	if some, err := Write(file, from, "", nil, nil); some || err != nil {
		t.Errorf("an archive of nothing: %v %v", some, err)
	}
	if some, err := Write(file, from, "", []string{".env", "link", "missing"}, nil); !some || err != nil {
		t.Fatalf("%v %v", some, err)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	if err := Read(file, to, ""); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(to, ".env"))
	st, _ := os.Stat(filepath.Join(to, ".env"))
	if target, _ := os.Readlink(filepath.Join(to, "link")); string(text) != "A=1\n" || st.Mode().Perm() != 0o600 || target != "elsewhere" {
		t.Errorf("%q %v %q", text, st, target)
	}
}

// Read writes nothing outside of its directories.
func TestReadStaysInside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, tree := filepath.Join(dir, "a.tar.gz"), filepath.Join(dir, "tree")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(f)
	out := tar.NewWriter(zip)
	for _, h := range []*tar.Header{
		{Name: inTree + "../outside", Typeflag: tar.TypeReg}, {Name: "/outside", Typeflag: tar.TypeReg}, {Name: inTree + "inside", Typeflag: tar.TypeReg, Mode: 0o644},
	} {
		if err := out.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []interface{ Close() error }{out, zip, f} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := Read(file, tree, filepath.Join(dir, "modules")); err != nil {
		t.Fatal(err)
	}
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	inside, _ := filepath.Glob(filepath.Join(tree, "*"))
	if len(all) != 2 || len(inside) != 1 {
		t.Errorf("%v %v", all, inside)
	}
}
