package child

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice/notify"
)

// A real notification service on a real X server shows the message: the texts are the
// service's own, and the screen is not empty any more. With -artifacts, the test keeps a
// picture of the screen.
func TestDesktop(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"Xvfb", "dbus-daemon", "dunst", "dunstctl"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skipf("%s is not installed; run scripts/deps.sh", program)
		}
	}
	home := t.TempDir()
	display := ":" + starts(t, nil, "Xvfb", "-displayfd", "1", "-screen", "0", "800x300x24", "-fbdir", home, "-nolisten", "tcp")
	config := filepath.Join(home, "dunst", "dunstrc")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("[global]\nwidth = 600\nheight = 250\norigin = top-center\nfont = Sans 14\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_RUNTIME_DIR=" + home, "DISPLAY=" + display}
	bus := starts(t, env, "dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1", "--address=unix:path="+filepath.Join(home, "bus"))
	env = append(env, "DBUS_SESSION_BUS_ADDRESS="+bus) // the daemon starts dunst when somebody needs it
	if err := senders(env...)["desktop"].Send(t.Context(), notify.Target{Name: "desktop"}, message); err != nil {
		t.Fatal(err)
	}
	screen := shown(t, filepath.Join(home, "Xvfb_screen0"))
	f, err := os.Create(filepath.Join(t.ArtifactDir(), "desktop.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, screen); err != nil {
		t.Fatal(err)
	}
	control(t, env, "close-all")
	var history struct {
		Data [][]map[string]struct{ Data any }
	}
	if err := json.Unmarshal(control(t, env, "history"), &history); err != nil || len(history.Data) != 1 || len(history.Data[0]) != 1 {
		t.Fatalf("%v: %+v", err, history)
	}
	got := history.Data[0][0]
	body := "Which &lt;i&gt;colour&lt;/i&gt; &amp; [which](http://evil.test)?\n\nOpen: http://127.0.0.1:4040/tasks/app-4 · #1"
	if got["summary"].Data != message.Title || got["body"].Data != body || got["appname"].Data != "Coppice" {
		t.Errorf("%+v", got)
	}
}

func control(t *testing.T, env []string, verb string) []byte {
	t.Helper()
	cmd := exec.Command("dunstctl", verb)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// starts starts a program that runs until the test ends, and returns the first line of
// its output.
func starts(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", argv[0], err)
	}
	return strings.TrimSpace(line)
}

// shown returns the screen when something is on it.
func shown(t *testing.T, file string) image.Image {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if img, lit := screenOf(b); lit > 2000 {
			return img
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("nothing is on the screen")
		}
	}
}

// screenOf reads a screen in the format of xwd, and counts the pixels that are bright, as
// those of letters.
func screenOf(b []byte) (img *image.RGBA, lit int) {
	at := func(field int) int { return int(binary.BigEndian.Uint32(b[4*field:])) }
	header, width, height, bits, line, colors := at(0), at(4), at(5), at(11), at(12), at(19)
	img = image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			p := b[header+12*colors+y*line+x*bits/8:]
			img.Set(x, y, color.RGBA{p[2], p[1], p[0], 255})
			if p[0] > 200 && p[1] > 200 {
				lit++
			}
		}
	}
	return img, lit
}
