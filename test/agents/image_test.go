package agents

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"coppice"
	"coppice/agent"
)

// attached returns an image in a file, as the host passes it to drivers.
func attached(t *testing.T) []agent.Image {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 32, 32))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "0123abcd") // the host's names have no extension
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return []agent.Image{{Type: "image/png", Path: path, Data: b.Bytes()}}
}

// wantImages checks how many images the model got in one request.
func (b *bench) wantImages(t *testing.T, want int) {
	t.Helper()
	most := 0
	for _, e := range b.model.Log() {
		most = max(most, e.Images)
	}
	if most != want {
		t.Errorf("the model got %d images in a request, want %d", most, want)
	}
}

// The model gets the images of the prompt and of a message.
func TestImages(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *bench{"claude": claudeBench, "codex": codexBench} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			images := attached(t)
			sent := false
			f := b.run(t, agent.Request{Prompt: "WAIT", Images: images}, func(pm *pump, e coppice.AgentEvent) {
				if e.Kind == coppice.KindTool && !sent {
					sent = true
					pm.queue = append(pm.queue, func() {
						pm.apply(pm.driver.(agent.Viewer).SendImages("SECOND", images))
						b.release(t)
					})
				}
			})
			f.wantSummary(t, "second it is")
			b.wantImages(t, 2)
		})
	}
	t.Run("codex exec", func(t *testing.T) {
		t.Parallel()
		b := execBench(t)
		b.run(t, agent.Request{Prompt: "SECOND", Images: attached(t)}, nil).wantSummary(t, "second it is")
		b.wantImages(t, 1)
	})
}
