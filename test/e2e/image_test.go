//go:build linux

package e2e

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// An image reaches the agent with the prompt and with a message. The next session
// gets all of them again.
func TestImagesReachTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: once more, steps: [{write: {path: done.txt, content: "done\n"}}]}
  - {steps: [{wait_message: true}, {wait_message: true}]}
`})
	w.serve()
	file := func(name string, size int) string {
		t.Helper()
		var b bytes.Buffer
		path := filepath.Join(t.TempDir(), name)
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, size, size))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	w.cli("new", "Like this", "--image", file("one.png", 2))
	const key = "app-1"
	w.working(key, coppice.SessionIdle)
	seen := func(session string) int { return strings.Count(w.cli("logs", session), "sees an image: image/png") }
	if n := seen(key + ".1"); n != 1 {
		t.Errorf("with its prompt it sees %d images, want 1:\n%s", n, w.cli("logs", key+".1"))
	}
	w.cli("send", key, "and this", "--image", file("two.png", 3))
	w.await(key, "the message", func(d api.TaskDetail) bool { return len(d.Messages) == 1 && !d.Messages[0].DeliveredAt.IsZero() })
	w.working(key, coppice.SessionIdle)
	w.cli("requeue", key, "--note", "once more")
	w.landed(key)
	for session, want := range map[string]int{key + ".1": 2, key + ".2": 2} {
		if n := seen(session); n != want {
			t.Errorf("%s sees %d images, want %d:\n%s", session, n, want, w.cli("logs", session))
		}
	}
}
