package features

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
)

func put0(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func entriesOf(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "features.json")
	put0(t, name, "old", 0o640)
	put0(t, filepath.Join(dir, ".features.json.coppice"), "left by a crash", 0o600)
	f := File{Root: dir, Name: "features.json"}
	if err := f.Write([]byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(name)
	if got, rerr := f.Read(); rerr != nil || string(got) != "new" || err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("the file is %q (%v), %v, mode %v; want new and 0640", got, rerr, err, st.Mode())
	}
	if err := f.Write([]byte("old"), []byte("newer")); !errors.Is(err, ErrChanged) {
		t.Errorf("the file has changed: %v", err)
	}
	if got := entriesOf(t, dir); got != "features.json" {
		t.Errorf("left behind: %s", got)
	}
}

// An edit between the last check and the exchange stays.
func TestSwapGivesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	put0(t, filepath.Join(dir, "f"), "a person's", 0o644)
	put0(t, filepath.Join(dir, "temp"), "ours", 0o644)
	if err := swap(root, "temp", "f", []byte("old")); !errors.Is(err, ErrChanged) {
		t.Errorf("error %v, want %v", err, ErrChanged)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(got) != "a person's" || entriesOf(t, dir) != "f" {
		t.Errorf("%q %v, beside it %s", got, err, entriesOf(t, dir))
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside.json")
	put0(t, outside, "secret", 0o644)
	put0(t, filepath.Join(dir, "docs/real.json"), "old", 0o644)
	for link, to := range map[string]string{
		"features.json": "docs/link.json", "docs/link.json": "real.json", "absolute.json": filepath.Join(dir, "docs/real.json"),
		"escape.json": outside, "up.json": "../" + filepath.Base(filepath.Dir(outside)) + "/outside.json", "loop.json": "loop.json", "nowhere.json": "gone.json",
		"folder.json": "docs",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	f := File{Root: dir, Name: "features.json"}
	if err := f.Write([]byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(filepath.Join(dir, "features.json")); err != nil || to != "docs/link.json" {
		t.Errorf("the link is now %q, %v", to, err)
	}
	for _, name := range []string{"features.json", "docs/link.json", "docs/real.json", "absolute.json"} {
		if got, err := (File{Root: dir, Name: name}).Read(); err != nil || string(got) != "new" {
			t.Errorf("%s: %q, %v; want new", name, got, err)
		}
	}
	if got := strings.Join(f.Paths(), " ") + " in " + strings.Join(f.Folders(), " "); got != "features.json docs/real.json in . docs" {
		t.Error(got)
	}
	for _, name := range []string{"escape.json", "up.json", "loop.json", "nowhere.json", "folder.json", "docs", "none.json", "no/such/folder.json"} {
		f := File{Root: dir, Name: name}
		if _, err := f.Read(); coppice.ErrorCode(err) != coppice.EInvalid && coppice.ErrorCode(err) != coppice.ENotFound {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.Write([]byte("secret"), []byte("new")); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "secret" {
		t.Errorf("what is outside is now %q, %v", got, err)
	}
}
