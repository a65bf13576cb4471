package claude

import (
	"testing"

	"coppice/agent"
)

// Images come before the text, in base64. A message without images is a text.
func TestImages(t *testing.T) {
	t.Parallel()
	png := agent.Image{Type: "image/png", Path: "/i/a", Data: []byte("png")}
	gif := agent.Image{Type: "image/gif", Path: "/i/b", Data: []byte("gif!")}
	d := New().Driver(suite.Profile, agent.Request{Prompt: "like this", Images: []agent.Image{png, gif}})
	want := `{"type":"user","message":{"role":"user","content":[` +
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"Z2lmIQ=="}},` +
		`{"type":"text","text":"like this"}]}}` + "\n"
	if got := string(d.Start().Write); got != want {
		t.Errorf("the prompt is\n%swant\n%s", got, want)
	}
	step, err := d.(agent.Viewer).SendImages("and this", []agent.Image{png})
	want = `{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},{"type":"text","text":"and this"}]}}` + "\n"
	if err != nil || string(step.Write) != want {
		t.Errorf("the message is\n%swant\n%s(%v)", step.Write, want, err)
	}
	step, err = d.Send("plain", "")
	want = `{"type":"user","message":{"role":"user","content":"plain"}}` + "\n"
	if err != nil || string(step.Write) != want {
		t.Errorf("the message is\n%swant\n%s(%v)", step.Write, want, err)
	}
}
