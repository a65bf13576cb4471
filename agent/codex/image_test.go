package codex

import (
	"slices"
	"strings"
	"testing"

	"coppice/agent"
)

var images = []agent.Image{{Type: "image/png", Path: "/i/a", Data: []byte("png")}, {Type: "image/gif", Path: "/i/b"}}

// The app server reads images from their files.
func TestImages(t *testing.T) {
	t.Parallel()
	d := New().Driver(suite.Profile, agent.Request{Prompt: "like this", Images: images})
	want := `"input":[{"type":"text","text":"like this"},{"type":"localImage","path":"/i/a"},{"type":"localImage","path":"/i/b"}]`
	if got := string(open(d).Write); !strings.Contains(got, want) {
		t.Errorf("the prompt is %s, want %s", got, want)
	}
	step, err := d.(agent.Viewer).SendImages("and this", images[:1])
	want = `"input":[{"type":"text","text":"and this"},{"type":"localImage","path":"/i/a"}]`
	if err != nil || !strings.Contains(string(step.Write), want) {
		t.Errorf("the message is %s, want %s (%v)", step.Write, want, err)
	}
}

// The non-interactive mode gets them as options before the word that continues a
// conversation.
func TestExecImages(t *testing.T) {
	t.Parallel()
	p := suite.Profile
	p.Command, p.Args, p.Resume, p.Schema = []string{"codex", "exec"}, []string{"--json"}, []string{"resume", "{conversation}"}, nil
	l, err := NewExec().Launch(p, agent.Request{Resume: "c1", Images: images})
	if want := []string{"codex", "exec", "--json", "--image=/i/a", "--image=/i/b", "resume", "c1", "-"}; err != nil || !slices.Equal(l.Argv, want) {
		t.Errorf("argv %q, want %q (%v)", l.Argv, want, err)
	}
	if _, err := NewExec().Driver(p, agent.Request{}).(agent.Viewer).SendImages("x", images); err == nil {
		t.Error("it accepted a message")
	}
}
