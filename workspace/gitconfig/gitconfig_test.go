package gitconfig

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/workspace/git"
)

// Git reads the same settings that Render wrote.
func TestRender(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config")
	settings := []git.Setting{Set("core.bare", "true"), Set("remote.a.b.url", `https://x/"y"\z`), Set("user.name", " Ann\t#;\nx "), Set("branch.Ü x.merge", "")}
	if err := os.WriteFile(file, []byte(Render(settings)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "config", "--file", file, "--null", "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, s := range settings {
		want.WriteString(s.Key + "\n" + s.Value + "\x00")
	}
	if string(out) != want.String() {
		t.Errorf("git reads %q, want %q", out, want.String())
	}
}

// A workspace has confirmed settings only, and none about the storage of the
// user's repository.
func TestForWorkspace(t *testing.T) {
	t.Parallel()
	setting := func(key, value string) git.Setting { return git.Setting{Scope: "local", Key: key, Value: value} }
	now := []git.Setting{setting("core.autocrlf", "input"), setting("core.worktree", "/x"), setting("remote.origin.url", "https://evil"), setting("core.sparsecheckout", "true"), setting("core.splitindex", "true")}
	confirmed := []git.Setting{setting("remote.origin.url", "https://good")}
	config, sparse := ForWorkspace(t.TempDir(), now, confirmed, true)
	for text, want := range map[string]bool{"autocrlf": true, "https://good": true, "https://evil": false, "/x": false, "splitindex": false, "sparsecheckout": true} {
		if strings.Contains(config, text) != want {
			t.Errorf("%s: want %v in\n%s", text, want, config)
		}
	}
	if !sparse {
		t.Error("the checkout is sparse")
	}
	if config, _ := ForWorkspace(t.TempDir(), now, nil, false); !strings.Contains(config, "https://evil") {
		t.Error("nothing is confirmed yet, and the settings do not count")
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	setting := func(value string) []coppice.GitSetting {
		return []coppice.GitSetting{{Scope: "local", Key: "remote.origin.url", Value: value}}
	}
	got := Diff(setting("https://ann:secret@x/y"), setting("https://ann@z"))
	if !strings.Contains(got, "- local: remote.origin.url = \"https://x/y\"\n+ local: remote.origin.url = \"https://z\"") {
		t.Errorf("%s", got)
	}
	if got := Diff(setting("https://ann:old@x/y"), setting("https://ann:new@x/y")); got != "" {
		t.Errorf("another password: %q", got)
	}
	if got := Diff(setting("a"), setting("a")); got != "" {
		t.Errorf("%q", got)
	}
}
