package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestWritesPlainFiles(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]bool{
		"user.name=a": true, "core.autocrlf=false": true, "core.filemode=true": true, "core.autocrlf=input": false, "core.eol=lf": false, "core.symlinks=false": false,
		"core.attributesFile=x": false, "core.sparseCheckout=true": false, "core.sharedRepository=group": false,
	} {
		home, dir := t.TempDir(), t.TempDir()
		r, err := New(Config{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		config, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		section, rest := setting[:4], setting[5:]
		if _, err := config.WriteString("[" + section + "]\n" + rest + "\n"); err != nil {
			t.Fatal(err)
		}
		if err := config.Close(); err != nil {
			t.Fatal(err)
		}
		if got := r.WritesPlainFiles(t.Context(), dir); got != want {
			t.Errorf("%s: %v", setting, got)
		}
		if err := os.MkdirAll(filepath.Join(home, ".config", "git"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".config", "git", "attributes"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if r.WritesPlainFiles(t.Context(), dir) {
			t.Error("it does not see the attributes of the user")
		}
	}
}
