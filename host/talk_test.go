package host

import (
	"errors"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
)

func init() { testProtocols["turns"] = turnsProtocol{testProtocol{name: "turns"}} }

// turnsProtocol has an agent that can be interrupted and can change its model.
type turnsProtocol struct{ testProtocol }

func (p turnsProtocol) Driver(_ coppice.Profile, r agent.Request) agent.Driver {
	return &turnsDriver{testDriver{protocol: p.name, prompt: r.Prompt}}
}

type turnsDriver struct{ testDriver }

func (d *turnsDriver) Interrupt() (agent.Step, error) {
	return agent.Step{Write: []byte("interrupt\n")}, nil
}

func (d *turnsDriver) Send(text, ref string) (agent.Step, error) {
	if text == "cannot" {
		return agent.Step{}, agent.ErrCannot
	}
	return d.testDriver.Send(text, ref)
}

func (d *turnsDriver) Model(name string) (agent.Step, error) {
	return agent.Step{Write: []byte("model " + name + "\n")}, nil
}

func TestInterruptAndModel(t *testing.T) {
	t.Parallel()
	b, c := connected(t, "turns", "echo")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time does nothing
		must(c.Interrupt(b.ctx, Message{ID: "m1", Text: "instead"}))
	}
	must(c.Interrupt(b.ctx, Message{}))
	must(c.Model(b.ctx, "big"))
	// The turn has ended although the text could not be sent, which is reported.
	if err := c.Interrupt(b.ctx, Message{ID: "m2", Text: "cannot"}); !errors.Is(err, agent.ErrCannot) {
		t.Errorf("a text that cannot be said: %v", err)
	}
	must(c.Send(b.ctx, Message{Text: "last"}))
	b.until(contains("got: last\n"))
	want := "ready\ngot: interrupt\ngot: instead\ngot: interrupt\ngot: model big\ngot: interrupt\ngot: last\n"
	if got := strings.ReplaceAll(string(b.output(coppice.OutputStdout)), "\r", ""); got != want {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	must(c.Send(b.ctx, Message{Text: "quit"}))
	b.ended()
}

func TestModelOfAnAgentThatCannot(t *testing.T) {
	t.Parallel()
	b, c := connected(t, "talk", "echo")
	if err := c.Model(b.ctx, "big"); !errors.Is(err, agent.ErrCannot) {
		t.Errorf("got %v", err)
	}
	if err := c.Send(b.ctx, Message{Text: "quit"}); err != nil {
		t.Fatal(err)
	}
	b.ended()
}
