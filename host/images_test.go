package host

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
)

func init() { testProtocols["sees"] = seesProtocol{testProtocol{name: "sees"}} }

// seesProtocol has an agent that sees images. Its driver writes what it got to
// the agent, which prints it.
type seesProtocol struct{ testProtocol }

func (p seesProtocol) Driver(_ coppice.Profile, r agent.Request) agent.Driver {
	return &seesDriver{testDriver{protocol: p.name, prompt: r.Prompt}, r.Images}
}

type seesDriver struct {
	testDriver
	images []agent.Image
}

func (d *seesDriver) Start() agent.Step {
	step, _ := d.SendImages(d.prompt, d.images)
	return step
}

func (d *seesDriver) SendImages(text string, images []agent.Image) (agent.Step, error) {
	for _, i := range images {
		file, err := os.ReadFile(i.Path)
		text += fmt.Sprintf(" with %s of %d bytes, %t", i.Type, len(i.Data), err == nil && bytes.Equal(file, i.Data))
	}
	return agent.Step{Write: []byte(text + "\n")}, nil
}

func smallPNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (b *bundle) addImage(name string) int {
	b.t.Helper()
	data := smallPNG(b.t)
	for range 2 { // it can be repeated
		if err := AddImage(b.dir, name, data); err != nil {
			b.t.Fatal(err)
		}
	}
	return len(data)
}

func TestImages(t *testing.T) {
	t.Parallel()
	b := setup(t, "sees", "echo")
	n := b.addImage("one")
	b.spec.Images = []string{"one"}
	b.start("like this")
	b.until(contains(fmt.Sprintf("got: like this with image/png of %d bytes, true\n", n)))
	b.addImage("two")
	c := b.dial()
	for range 2 { // the second time does nothing
		if err := c.Send(b.ctx, Message{ID: "m1", Text: "and this", Images: []string{"one", "two"}}); err != nil {
			t.Fatal(err)
		}
	}
	b.until(contains(fmt.Sprintf("got: and this with image/png of %d bytes, true with image/png of %d bytes, true\n", n, n)))
	for name, m := range map[string]Message{"a path": {Text: "x", Images: []string{"../exit.json"}}, "none": {Text: "x", Images: []string{"three"}}} {
		if err := c.Send(b.ctx, m); err == nil {
			t.Errorf("%s was sent", name)
		}
	}
	if err := c.Send(b.ctx, Message{Text: "quit"}); err != nil {
		t.Fatal(err)
	}
	b.ended()
	if err := AddImage(b.dir, "../x", nil); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a path as a name: %v", err)
	}
}

// An agent that cannot see images gets a sentence about them, in its prompt, in
// the file of its prompt, and in messages. The spool says so for people.
func TestImagesForABlindAgent(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo", "{prompt_file}")
	b.addImage("one")
	b.spec.Images = []string{"one"}
	b.start("like this")
	b.until(contains("ready\n"))
	if got, err := os.ReadFile(filepath.Join(b.dir, privateDir, "prompt")); err != nil || !strings.HasPrefix(string(got), "like this\n") || !strings.Contains(string(got), "You cannot see it.") {
		t.Errorf("the prompt's file has %q, %v", got, err)
	}
	if err := b.dial().Send(b.ctx, Message{Text: "and this", Images: []string{"one"}}); err != nil {
		t.Fatal(err)
	}
	b.until(contains("got: (An image belongs to this message. You cannot see it.)\n"))
	if err := b.dial().Send(b.ctx, Message{Text: "quit"}); err != nil {
		t.Fatal(err)
	}
	b.ended()
	if got := strings.Count(string(b.output(coppice.OutputHost)), "cannot see images"); got != 2 {
		t.Errorf("%d notes for people, want 2: %s", got, b.output(coppice.OutputHost))
	}
}

// A host of an older release does not get images: the next session does.
func TestImagesForAnOldHost(t *testing.T) {
	t.Parallel()
	c, err := Dial(t.Context(), oldHost(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Send(t.Context(), Message{Text: "x", Images: []string{"one"}}); !errors.Is(err, ErrOld) {
		t.Errorf("got %v", err)
	}
}
