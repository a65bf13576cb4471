package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"coppice/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"one", "two"} {
		if err := atomicfile.Write(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(got) != text || info.Mode().Perm() != 0o640 {
			t.Errorf("%q %v %v %v", got, info, err, statErr)
		}
	}
	// A directory cannot be replaced, and the attempt leaves nothing behind.
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "sub"), []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("left behind: %v %v", all, err)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	text := func(s string) func(*os.File) error {
		return func(f *os.File) error { _, err := f.WriteString(s); return err }
	}
	if err := atomicfile.Replace(path, atomicfile.Options{New: true}, text("one")); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(path, atomicfile.Options{New: true}, text("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that exists was replaced: %v", err)
	}
	why := errors.New("no more")
	if err := atomicfile.Replace(path, atomicfile.Options{NoSync: true}, func(f *os.File) error { return errors.Join(text("thr")(f), why) }); !errors.Is(err, why) {
		t.Errorf("a write that failed: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "one" {
		t.Errorf("%q %v", got, err)
	}
	if err := atomicfile.WriteJSON(path, map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if got, _ := os.ReadFile(path); err != nil || string(got) != `{"a":1}` || info.Mode().Perm() != 0o600 {
		t.Errorf("%s %v %v", got, info, err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("left behind: %v %v", all, err)
	}
}
