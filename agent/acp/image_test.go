package acp

import (
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
)

// An agent that reports that it sees images gets them. Another one gets a
// sentence, and people get a notice.
func TestImages(t *testing.T) {
	t.Parallel()
	images := []agent.Image{{Type: "image/png", Path: "/i/a", Data: []byte("png")}}
	for _, c := range []struct{ can, want string }{
		{`,"agentCapabilities":{"promptCapabilities":{"image":true}}`, `"prompt":[{"type":"text","text":"like this"},{"type":"image","mimeType":"image/png","data":"cG5n"}]`},
		{``, `"prompt":[{"type":"text","text":"like this\n\n(An image belongs to this message. You cannot see it.)\n"}]`},
	} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "like this", Images: images})
		d.Start()
		out(d, `"id":1,"result":{"protocolVersion":1`+c.can+`}`)
		step := out(d, `"id":2,"result":{"sessionId":"s1"}`)
		if !strings.Contains(string(step.Write), c.want) {
			t.Errorf("the prompt is %s, want %s", step.Write, c.want)
		}
		notices := len(events(step, coppice.KindNotice))
		if blind := c.can == ""; (notices == 1) != blind {
			t.Errorf("%d notices for %q", notices, c.can)
		}
		// A message during a turn keeps its images until the turn ends.
		if _, err := d.(agent.Viewer).SendImages("like this", images); err != nil {
			t.Fatal(err)
		}
		if step = out(d, `"id":3,"result":{"stopReason":"end_turn"}`); !strings.Contains(string(step.Write), c.want) {
			t.Errorf("the message is %s, want %s", step.Write, c.want)
		}
	}
}
