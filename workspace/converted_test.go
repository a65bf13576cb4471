package workspace

import (
	"path/filepath"
	"testing"

	"coppice"
)

// TestFilesAreConverted has settings and attributes with which files do not have the
// bytes of their blobs. Reused workspaces and the person's checkout get them as git
// writes them.
func TestFilesAreConverted(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(b *bundle){
		"setting":         func(b *bundle) { b.run("git", "config", "core.autocrlf", "true") },
		"attributes":      func(b *bundle) { write(t, b.root, "dir/.gitattributes", "*.txt eol=crlf\n"); commit(t, b.root, "more") },
		"info":            func(b *bundle) { write(t, b.root, ".git/info/attributes", "*.txt eol=crlf\n") },
		"user attributes": func(b *bundle) { write(t, filepath.Dir(b.root), ".config/git/attributes", "*.txt eol=crlf\n") },
		"none":            func(*bundle) {},
	} {
		b := setup(t)
		set(b)
		want := "one\r\ntwo\r\n"
		if name == "none" {
			want = "one\ntwo\n"
		}
		for _, key := range []string{"app-1", "app-2"} {
			ws := b.prepare(key)
			if key == "app-2" && read(t, ws.Path, "dir/app-1.txt") != want {
				t.Errorf("%s: the workspace has %q", name, read(t, ws.Path, "dir/app-1.txt"))
			}
			write(t, ws.Path, "dir/"+key+".txt", "one\ntwo\n")
			m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.saved(ws.Path), coppice.StrategySquash)))
			if got := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(m))); !got.Moved {
				t.Fatalf("%+v", got)
			}
			if got := read(t, b.root, "dir/"+key+".txt"); got != want {
				t.Errorf("%s: the checkout has %q", name, got)
			}
			must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec(key)))
		}
	}
}
