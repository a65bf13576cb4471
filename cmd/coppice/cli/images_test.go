package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
)

func TestPicturesAreNamedAndSaved(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.env.Dir = t.TempDir()
	s.Project("/src/app")
	s.Task("app", coppice.NewTask{Title: "A page"})
	s.Session("app-1", coppice.SessionDone, nil)
	png, jpeg := "\x89PNG\r\n\x1a\n one", "\xff\xd8\xff two"
	verify := func(c *coppice.Session) { c.Role = coppice.RoleVerify }
	first := s.Session("app-1", coppice.SessionDone, verify)
	s.Write(first.ID, coppice.OutputEvent, `{"kind":"text","text":"I look."}`)
	s.Write(first.ID, coppice.OutputImage, png, jpeg)
	second := s.Session("app-1", coppice.SessionDone, verify)
	s.Write(second.ID, coppice.OutputImage, png)

	code, out, errs := s.run("", "show", "app-1")
	if code != 0 || !strings.Contains(out, "app-1.2  2 pictures (coppice logs app-1.2 --images DIR saves them)") || !strings.Contains(out, "app-1.3  1 picture ") {
		t.Errorf("show: %d\n%s%s", code, out, errs)
	}
	code, out, _ = s.run("", "logs", "app-1.2")
	if code != 0 || out != "I look.\n▣ picture of 12 B\n▣ picture of 7 B\n" {
		t.Errorf("logs: %d\n%s", code, out)
	}
	dir := filepath.Join(s.env.Dir, "evidence")
	want := strings.Join([]string{dir + "/app-1.2-1.png", dir + "/app-1.2-2.jpeg", dir + "/app-1.3-1.png", ""}, "\n")
	for range 2 { // the second time the file exists
		if code, out, errs = s.run("", "logs", "app-1", "--images", "evidence"); code != 0 || out != want {
			t.Fatalf("saved: %d\n%s%s", code, out, errs)
		}
	}
	for name, text := range map[string]string{"app-1.2-1.png": png, "app-1.2-2.jpeg": jpeg, "app-1.3-1.png": png} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s holds %q: %v", name, got, err)
		}
	}
	s.Must(os.WriteFile(filepath.Join(dir, "app-1.3-1.png"), []byte("mine"), 0o600))
	if code, _, errs = s.run("", "logs", "app-1.3", "--images", dir); code != 1 || !strings.Contains(errs, "already exists") {
		t.Errorf("over somebody's file: %d %s", code, errs)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "app-1.3-1.png")); err != nil || string(got) != "mine" {
		t.Errorf("it holds %q: %v", got, err)
	}
	code, out, _ = s.run("", "logs", "app-1.2", "--images", dir, "--json")
	var line struct{ Session, Path string }
	if err := json.Unmarshal([]byte(strings.SplitN(out, "\n", 2)[0]), &line); code != 0 || err != nil || line.Session != "app-1.2" || line.Path != dir+"/app-1.2-1.png" {
		t.Errorf("for programs: %d %v\n%s", code, err, out)
	}
	if code, out, _ = s.run("", "logs", "app-1.1", "--images", dir); code != 0 || out != "app-1.1 took no pictures\n" {
		t.Errorf("none: %d %s", code, out)
	}
	for _, wrong := range [][]string{{"--images", ""}, {"--images", "x", "--raw"}, {"--images", "x", "-f"}} {
		if code, _, errs = s.run("", append([]string{"logs", "app-1"}, wrong...)...); code != 2 || errs == "" {
			t.Errorf("%q: %d %s", wrong, code, errs)
		}
	}
	if code, _, errs = s.run("", "logs", "app-1.2", "--images", "/proc/nowhere"); code != 1 || !strings.Contains(errs, "cannot be saved") {
		t.Errorf("a place that cannot be written: %d %s", code, errs)
	}
}
