package cli_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImagesFromFiles(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.env.Dir = t.TempDir()
	s.Project("/src/app")
	var data bytes.Buffer
	s.Must(png.Encode(&data, image.NewGray(image.Rect(0, 0, 2, 2))))
	s.Must(os.WriteFile(filepath.Join(s.env.Dir, "a.png"), data.Bytes(), 0o600))
	s.Must(os.WriteFile(filepath.Join(s.env.Dir, "notes.txt"), []byte("hello"), 0o600))
	if code, _, errs := s.run("", "new", "Like this", "-p", "app", "--image", "a.png", "--effort", "high"); code != 0 {
		t.Fatalf("new: %d %s", code, errs)
	}
	if code, _, errs := s.run("", "send", "app-1", "and", "this", "--image", "a.png"); code != 0 {
		t.Fatalf("send: %d %s", code, errs)
	}
	if code, _, errs := s.run("", "requeue", "app-1", "--note", "once more", "--image", "a.png"); code != 0 {
		t.Fatalf("requeue: %d %s", code, errs)
	}
	d, err := s.Client.Task(s.Ctx, "app-1")
	if err != nil || len(d.Images) != 1 || len(d.Messages) != 1 || len(d.Messages[0].Images) != 1 || d.Effort != "high" {
		t.Errorf("images %+v, messages %+v, effort %q, %v", d.Images, d.Messages, d.Effort, err)
	}
	if _, out, _ := s.run("", "show", "app-1"); !strings.Contains(out, "1 image, ") || !strings.Contains(out, "high") {
		t.Errorf("show: %s", out)
	}
	for want, args := range map[string][]string{
		"not a PNG":          {"new", "x", "-p", "app", "--image", "notes.txt"},
		"cannot read":        {"new", "x", "-p", "app", "--image", "none.png"},
		"--file and --image": {"new", "--file", "tasks.yaml", "--image", "a.png"},
	} {
		if code, _, errs := s.run("", args...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	if tasks, err := s.Client.Task(s.Ctx, "app-2"); err == nil {
		t.Errorf("a refused image created %s", tasks.Key)
	}
}
