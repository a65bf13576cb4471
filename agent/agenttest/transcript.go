// Package agenttest has the tests that every agent protocol must pass: recorded
// runs replayed against golden files, the same events for every cut of the
// bytes, no panic on any input, and no prompt in the arguments.
//
// A recording is a folder testdata/<case> with two files. transcript.txt has a
// line for each event:
//
//	request {"Prompt":"…"}   the agent.Request
//	out <line>               the agent wrote a line to stdout
//	err <line>               or to stderr
//	send <text>              a person sent a message
//	answer <ref> <text>      or answered a question
//	interrupt                the turn was interrupted
//	model <name>             the model was switched
//	hook <body>              the agent called a hook
//	stop                     the session was stopped
//	exit <code> [signal]     the process ended
//
// golden.txt has the driver's reaction; `go test -update` writes it.
package agenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"coppice"
	"coppice/agent"
)

// Op is one line of a transcript.
type Op struct {
	Name string // request, out, err, send, answer, interrupt, model, hook, stop or exit
	Arg  string
}

// Transcript is a recorded run.
type Transcript []Op

// Read reads a transcript.
func Read(file string) (Transcript, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var t Transcript
	for i, l := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		name, arg, _ := strings.Cut(l, " ")
		switch name {
		case "request", "out", "err", "send", "answer", "interrupt", "model", "hook", "stop", "exit":
			t = append(t, Op{name, arg})
		default:
			return nil, fmt.Errorf("%s:%d: unknown %q", file, i+1, name)
		}
	}
	return t, nil
}

// String returns the transcript in the format of its file.
func (t Transcript) String() string {
	var b strings.Builder
	for _, o := range t {
		b.WriteString(strings.TrimSuffix(o.Name+" "+o.Arg, " ") + "\n")
	}
	return b.String()
}

// request returns the request with which the run was started.
func (t Transcript) request() (agent.Request, error) {
	r := agent.Request{Prompt: "do it"}
	for _, o := range t {
		if o.Name == "request" {
			if err := json.Unmarshal([]byte(o.Arg), &r); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// join merges successive lines of the same stream into one operation, so that
// cuts can be anywhere in them.
func (t Transcript) join() Transcript {
	var out Transcript
	for _, o := range t {
		if o.Name == "out" || o.Name == "err" {
			o.Arg += "\n"
			if n := len(out); n > 0 && out[n-1].Name == o.Name {
				out[n-1].Arg += o.Arg
				continue
			}
		}
		out = append(out, o)
	}
	return out
}

// recorder records what a driver does, in the format of a golden file.
type recorder struct {
	b     bytes.Buffer
	steps []agent.Step
}

func (r *recorder) step(s agent.Step, err error) {
	r.steps = append(r.steps, s)
	if err != nil {
		fmt.Fprintf(&r.b, "error %v\n", err)
	}
	for _, e := range s.Events {
		fmt.Fprintf(&r.b, "event %s\n", encode(e))
	}
	for l := range strings.Lines(string(s.Write)) {
		fmt.Fprintf(&r.b, "write %s\n", clip(strings.TrimSuffix(l, "\n")))
	}
	if s.CloseStdin {
		r.b.WriteString("close\n")
	}
}

func clip(s string) string {
	if len(s) > 2000 {
		return fmt.Sprintf("%s… (%d bytes)", s[:200], len(s))
	}
	return s
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("agenttest: an event cannot be written as JSON: %v", err))
	}
	return b
}

// play runs a driver through a transcript. cut returns how many of the
// remaining bytes the driver gets next.
func play(d agent.Driver, t Transcript, cut func(left int) int) (string, error) {
	var r recorder
	err := r.play(d, t, cut)
	return r.b.String(), err
}

// Replay returns the steps of a protocol's driver in a recorded run.
func Replay(p agent.Protocol, profile coppice.Profile, t Transcript) ([]agent.Step, error) {
	request, err := t.request()
	if err != nil {
		return nil, err
	}
	var r recorder
	err = r.play(p.Driver(profile, request), t, whole)
	return r.steps, err
}

func (r *recorder) play(d agent.Driver, t Transcript, cut func(left int) int) error {
	r.step(d.Start(), nil)
	for _, o := range t.join() {
		switch o.Name {
		case "out", "err":
			stream := agent.Stdout
			if o.Name == "err" {
				stream = agent.Stderr
			}
			for b := []byte(o.Arg); len(b) > 0; {
				n := cut(len(b))
				r.step(d.Output(stream, b[:n]), nil)
				b = b[n:]
			}
		case "send":
			r.step(d.Send(o.Arg, ""))
		case "answer":
			ref, text, _ := strings.Cut(o.Arg, " ")
			r.step(d.Send(text, ref))
		case "interrupt":
			r.step(d.Interrupt())
		case "model":
			r.step(d.(agent.Switcher).Model(o.Arg))
		case "hook":
			step, answer := d.(agent.Hooker).Hook([]byte(o.Arg))
			r.step(step, nil)
			fmt.Fprintf(&r.b, "hook %s\n", answer)
		case "stop":
			r.step(d.Stop(), nil)
		case "exit":
			code, signal, _ := strings.Cut(o.Arg, " ")
			n, err := strconv.Atoi(code)
			if err != nil {
				return err
			}
			s, outcome := d.Exit(agent.Exit{Code: n, Signal: signal})
			r.step(s, nil)
			fmt.Fprintf(&r.b, "outcome %s\n", encode(outcome))
		}
	}
	return nil
}

func whole(left int) int { return left }
