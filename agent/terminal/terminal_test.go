package terminal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
	"coppice/agent"
)

var rules = []coppice.ScreenRule{
	{Match: "^Do you trust", State: coppice.SessionWaiting, Keys: "1"},
	{Match: `\(esc to interrupt\)$`, Lines: 3, State: coppice.SessionWorking},
	{Match: `^Allow .*\?`, State: coppice.SessionWaiting},
	{Match: "^> ?", Lines: 1, State: coppice.SessionIdle},
}

// app is an interactive program with flaws.
type app struct {
	paste  bool // it supports bracketed paste
	echo   bool // it shows what is typed
	deaf   int  // how many times it ignores the submit key
	quick  bool // it is done before anybody looks
	events bool // it reports its state
	slow   bool // it shows that it works for a moment when it ignores the submit key: it still starts

	input     string
	pasting   bool
	submitted []string // what was submitted
	working   bool
	trust     bool // it asks for trust first
	keys      int  // that it got while it asked
	flash     bool // it shows that it works, and then that it does not
	quit      bool
}

func (a *app) draw() string {
	var b strings.Builder
	b.WriteString("\x1b[H\x1b[2J")
	if a.paste {
		b.WriteString("\x1b[?2004h")
	}
	if a.trust {
		return b.String() + "Do you trust the files in this folder?\r\n 1. yes\r\n"
	}
	for _, h := range a.submitted {
		fmt.Fprintf(&b, "you: %s\r\n", strings.ReplaceAll(h, "\n", "\r\n"))
	}
	if a.working {
		b.WriteString("thinking (esc to interrupt)\r\n")
	}
	b.WriteString("> ")
	if a.echo {
		b.WriteString(strings.ReplaceAll(a.input, "\n", " "))
	}
	if a.events {
		state := coppice.SessionIdle
		if a.working {
			state = coppice.SessionWorking
		}
		data, _ := json.Marshal(coppice.AgentEvent{Kind: coppice.KindState, State: state})
		fmt.Fprintf(&b, "\x1b]7777;%s\a", data)
	}
	return b.String()
}

// typed takes keys and returns what the program draws.
func (a *app) typed(keys string) string {
	for keys != "" {
		switch {
		case a.trust:
			a.keys++
			a.trust = false
			keys = keys[1:]
		case strings.HasPrefix(keys, "\x1b[200~"):
			a.pasting, keys = true, keys[6:]
		case strings.HasPrefix(keys, "\x1b[201~"):
			a.pasting, keys = false, keys[6:]
		case keys[0] == '\r' && !a.pasting:
			keys = keys[1:]
			if a.deaf > 0 {
				a.deaf--
				a.flash = a.slow
				continue
			}
			switch {
			case a.input == "/quit":
				a.quit = true
			case a.input != "":
				a.submitted = append(a.submitted, a.input)
				a.working = true
			}
			a.input = ""
		case keys[0] == 0x15:
			a.input, keys = "", keys[1:]
		case keys[0] == 0x1b:
			a.working, keys = false, keys[1:]
		default:
			a.input, keys = a.input+keys[:1], keys[1:]
		}
	}
	return a.draw()
}

// play runs a driver against a program as a host would, with silences as time.
type play struct {
	app    *app
	d      *driver
	events []coppice.AgentEvent
	writes []string
	done   bool
}

func newPlay(a *app, p coppice.ScreenProfile, r agent.Request) *play {
	d := New().Driver(coppice.Profile{Protocol: Name, Command: []string{"x"}, Screen: p}, r).(*driver)
	return &play{app: a, d: d}
}

// take carries out a step, until nothing more follows immediately.
func (p *play) take(s agent.Step) {
	for {
		p.events = append(p.events, s.Events...)
		p.done = p.done || s.Done
		if len(s.Write) == 0 {
			return
		}
		p.writes = append(p.writes, string(s.Write))
		out := p.app.typed(string(s.Write))
		if p.app.flash {
			p.app.flash, p.app.working = false, true
			p.d.Output(agent.Stdout, []byte(p.app.draw()))
			p.d.Tick(0)
			p.app.working = false
			out = p.app.draw()
		}
		if p.app.working && p.app.quick {
			p.app.working = false
			out += p.app.draw()
		}
		s = p.d.Output(agent.Stdout, []byte(out))
	}
}

// rest lets time pass until nothing more happens.
func (p *play) rest() {
	for range 100 {
		before := len(p.writes)
		for _, quiet := range []time.Duration{300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second} {
			p.take(p.d.Tick(quiet))
			if len(p.writes) != before {
				break
			}
		}
		if len(p.writes) == before {
			return
		}
	}
}

func (p *play) named(name string) (n int) {
	for _, e := range p.events {
		if e.Name == name {
			n++
		}
	}
	return n
}

// works lets the program finish its work.
func (p *play) works() {
	p.app.working = false
	p.take(p.d.Output(agent.Stdout, []byte(p.app.draw())))
}

// TestDelivery: no message is typed and left unsubmitted, whatever the program
// does.
func TestDelivery(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := &app{
			paste: rapid.Bool().Draw(t, "paste"), echo: rapid.Bool().Draw(t, "echo"), deaf: rapid.IntRange(0, 4).Draw(t, "deaf"),
			quick: rapid.Bool().Draw(t, "quick"), events: rapid.Bool().Draw(t, "events"), trust: rapid.Bool().Draw(t, "trust"),
		}
		a.slow = a.echo && rapid.Bool().Draw(t, "slow")
		trust := a.trust
		prompt := rapid.StringMatching(`[a-z]{1,5}( [a-z]{1,9}){0,40}(\n[a-z ]{3,10}[a-z]){0,3}`).Draw(t, "prompt")
		deaf := a.deaf
		p := newPlay(a, coppice.ScreenProfile{Rules: rules, Quit: "/quit"}, agent.Request{Prompt: prompt})
		p.take(p.d.Start())
		p.take(p.d.Output(agent.Stdout, []byte(a.draw())))
		p.rest()
		if a.working {
			p.works()
			p.rest()
		}
		want := prompt
		if !a.paste {
			want = strings.ReplaceAll(prompt, "\n", " ")
		}
		switch {
		case a.input != "":
			t.Fatalf("%q was typed and left; it wrote %q", a.input, p.writes)
		case trust && a.keys != 1:
			t.Fatalf("%d keys were typed into the dialog", a.keys)
		case deaf < mostTries:
			if len(a.submitted) != 1 || a.submitted[0] != want || p.named("delivered") != 1 || p.named("undelivered") != 0 || !p.done {
				t.Fatalf("submitted %q, events %+v", a.submitted, p.events)
			}
			p.d.Stop() // as the host does when the program stays; it does not count as a failure
			if _, o := p.d.Exit(agent.Exit{Code: -1, Signal: "SIGKILL"}); o.Failure != nil {
				t.Fatalf("failure %v", o.Failure)
			}
		default:
			_, o := p.d.Exit(agent.Exit{})
			if len(a.submitted) != 0 || p.named("undelivered") != 1 || o.Failure == nil || o.Failure.Class != coppice.ClassCapability {
				t.Fatalf("submitted %q, events %+v, outcome %+v", a.submitted, p.events, o)
			}
		}
	})
}

func TestSubmitIsASeparateWrite(t *testing.T) {
	t.Parallel()
	a := &app{paste: true, echo: true}
	p := newPlay(a, coppice.ScreenProfile{Rules: rules}, agent.Request{Prompt: "say \x1b[201~hello\x03\r\nworld\n"})
	p.take(p.d.Output(agent.Stdout, []byte(a.draw())))
	p.rest()
	if d := cmp.Diff([]string{"\x1b[200~say [201~hello\nworld\x1b[201~", "\r"}, p.writes); d != "" {
		t.Error(d)
	}
	if len(a.submitted) != 1 || a.submitted[0] != "say [201~hello\nworld" {
		t.Errorf("submitted %q", a.submitted)
	}
}

// TestTurns follows a session through messages, an interrupt and its stop.
func TestTurns(t *testing.T) {
	t.Parallel()
	a := &app{paste: true, echo: true}
	p := newPlay(a, coppice.ScreenProfile{Rules: rules, Quit: "/quit"}, agent.Request{Prompt: "first"})
	p.take(p.d.Output(agent.Stdout, []byte(a.draw())))
	p.rest()
	send := func(text string) {
		t.Helper()
		s, err := p.d.Send(text, "")
		if err != nil {
			t.Fatal(err)
		}
		p.take(s)
	}
	send("second, while it works")
	p.rest()
	s, err := p.d.Interrupt()
	if err != nil {
		t.Fatal(err)
	}
	p.take(s)
	send("third, after the interrupt") // typed only when the screen has settled
	if a.input != "" {
		t.Errorf("typed into an interrupt: %q", a.input)
	}
	p.rest()
	if want := []string{"first", "second, while it works", "third, after the interrupt"}; !slices.Equal(a.submitted, want) {
		t.Errorf("submitted %q", a.submitted)
	}
	p.take(p.d.Stop())
	p.rest()
	if !a.quit {
		t.Errorf("not asked to quit: %q", p.writes)
	}
	if _, err := p.d.Send("late", ""); err != agent.ErrCannot {
		t.Errorf("late: %v", err)
	}
	p.d.Stop() // again is harmless
	if _, o := p.d.Exit(agent.Exit{}); o.Failure == nil || o.Failure.Class != coppice.ClassCancelled {
		t.Errorf("outcome %+v", o)
	}
}

// A program that clears the progress bar when it starts is not ready yet.
func TestClearedProgressIsNotAPrompt(t *testing.T) {
	t.Parallel()
	a := &app{paste: true, echo: true}
	p := newPlay(a, coppice.ScreenProfile{Rules: rules, Quit: "/quit"}, agent.Request{Prompt: "first"})
	p.take(p.d.Output(agent.Stdout, []byte("\x1b]9;4;0\a")))
	p.rest()
	if len(p.writes) > 0 {
		t.Fatalf("typed into an empty screen: %q", p.writes)
	}
	p.take(p.d.Output(agent.Stdout, []byte(a.draw())))
	p.rest()
	if !slices.Equal(a.submitted, []string{"first"}) {
		t.Errorf("submitted %q", a.submitted)
	}
}

// TestQuestions shows that only an answer is typed into a question.
func TestQuestions(t *testing.T) {
	t.Parallel()
	p := newPlay(&app{}, coppice.ScreenProfile{Rules: rules}, agent.Request{Prompt: "go"})
	d := p.d
	d.Output(agent.Stdout, []byte("> "))
	d.Tick(time.Second)
	d.Output(agent.Stdout, []byte("go"))
	if s := d.Tick(afterTyping); string(s.Write) != "\r" {
		t.Fatalf("submitted by %q", s.Write)
	}
	d.Output(agent.Stdout, []byte("\x1b[2J\x1b[Hthinking (esc to interrupt)\r\n> "))
	d.Tick(0)
	s := d.Output(agent.Stdout, []byte("\x1b[2J\x1b[HAllow git push?\r\n1. yes 2. no"))
	s = d.Tick(300 * time.Millisecond)
	i := slices.IndexFunc(s.Events, func(e coppice.AgentEvent) bool { return e.Kind == coppice.KindQuestion })
	if i < 0 || !strings.Contains(s.Events[i].Text, "Allow git push?") || d.State != coppice.SessionWaiting {
		t.Fatalf("events %+v", s.Events)
	}
	if again := d.Tick(time.Second); len(again.Events) > 0 {
		t.Errorf("asked again: %+v", again.Events)
	}
	if s, err := d.Send("by the way", ""); err != nil || len(s.Write) > 0 {
		t.Errorf("typed %q into a question (%v)", s.Write, err)
	}
	d.queue = nil
	if s, err := d.Send("1", s.Events[i].Ref); err != nil || string(s.Write) != "1" {
		t.Errorf("the answer: %q (%v)", s.Write, err)
	}
}

// TestWhenItEnds shows when a session has ended.
func TestWhenItEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		r      agent.Request
		attend bool
		want   bool
	}{
		{"runs a prompt", agent.Request{Prompt: "go"}, false, true},
		{"a person types", agent.Request{Prompt: "go"}, true, false},
		{"a person works on it", agent.Request{Prompt: "go", Screen: true}, false, false},
		{"taken over", agent.Request{Prompt: "go", Screen: true, Resume: "abc"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := &app{echo: true}
			p := newPlay(a, coppice.ScreenProfile{Rules: rules, Quit: "/quit"}, c.r)
			p.take(p.d.Start())
			p.take(p.d.Attend(c.attend))
			p.take(p.d.Output(agent.Stdout, []byte(a.draw())))
			p.rest()
			if taken := c.r.Resume != ""; taken != (len(a.submitted) == 0) {
				t.Errorf("submitted %q", a.submitted)
			}
			p.works()
			p.rest()
			if p.done != c.want || a.quit != c.want {
				t.Errorf("done %v, quit %v", p.done, a.quit)
			}
			if !c.attend {
				return
			}
			p.take(p.d.Attend(false)) // they left
			p.rest()
			if !p.done {
				t.Error("not done when they left")
			}
		})
	}
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	p := coppice.Profile{Protocol: "other", Command: []string{"agent"}, Args: []string{"--json"}, Resume: []string{"--resume", "{conversation}"}}
	if _, err := New().Launch(p, agent.Request{}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("without a screen: %v", err)
	}
	p.Screen = coppice.ScreenProfile{Runtime: "tmux"}
	l, err := New().Launch(p, agent.Request{Resume: "abc", Prompt: "secret"})
	if err != nil || !slices.Equal(l.Argv, []string{"agent", "--resume", "abc"}) || l.Screen.Runtime != "tmux" {
		t.Errorf("launch %+v, %v", l, err)
	}
	p = coppice.Profile{Protocol: Name, Command: []string{"agent"}, Args: []string{"--color"}}
	l, err = New().Launch(p, agent.Request{})
	if err != nil || !slices.Equal(l.Argv, []string{"agent", "--color"}) || l.Screen.Runtime != "pty" {
		t.Errorf("launch %+v, %v", l, err)
	}
	for _, bad := range []coppice.ScreenRule{{Match: "(", State: coppice.SessionIdle}, {Match: "x", State: coppice.SessionDone}} {
		p.Screen.Rules = []coppice.ScreenRule{bad}
		if _, err := New().Launch(p, agent.Request{}); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestCuts shows that an agent's events do not depend on how its bytes are cut.
func TestCuts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"\x1b]7777;{\"kind\":\"text\",\"text\":\"hi 世\"}\a", "\x1b]7777;{\"kind\":\"state\",\"state\":\"idle\"}\x1b\\", "\x1b]7777;{broken\a",
			"\x1b]7777;{\"kind\":\"state\",\"state\":\"done\"}\a", "\x1b]7777;{\"kind\":\"usage\",\"usage\":{\"input_tokens\":3}}\a", "\x1b]9;4;3\a", "\x1b]9;4;0\a",
			"\x1b]133;A\a", "\x1b]133;C\a", "text", "\x1b[31m", "\x1b]7777;{\"kind\":\"init\",\"conversation\":\"../x\"}\a", "\x1b]7777;{\"kind\":\"outcome\"}\a",
		})
		in := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "in"), "")
		whole, cut := newPlay(&app{}, coppice.ScreenProfile{}, agent.Request{}).d, newPlay(&app{}, coppice.ScreenProfile{}, agent.Request{}).d
		want := whole.Output(agent.Stdout, []byte(in)).Events
		var got []coppice.AgentEvent
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			got = append(got, cut.Output(agent.Stdout, []byte(rest[:n])).Events...)
			rest = rest[n:]
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		for _, e := range want {
			if e.Kind == "outcome" || e.State == coppice.SessionDone || strings.Contains(e.Conversation, "/") {
				t.Fatalf("believed %+v", e)
			}
		}
	})
}

// FuzzDriver shows the driver hostile screens, cut anywhere, with other calls
// in between.
func FuzzDriver(f *testing.F) {
	f.Add([]byte("> \x1b[200~hello\x1b]7777;{\"kind\":\"state\"}\a"), []byte{0, 1, 2, 3, 4, 5, 6, 7})
	f.Add([]byte("\x1b[?2004h> \xff\xfe\x1b]9;4;"), []byte{9, 200, 31, 4, 4, 4})
	f.Fuzz(func(t *testing.T, out, acts []byte) {
		p := newPlay(&app{}, coppice.ScreenProfile{Rules: rules, Quit: "/quit"}, agent.Request{Prompt: "continue", Resume: "abc"})
		d := p.d
		d.Start()
		for _, a := range acts {
			n := min(int(a>>3)+1, len(out))
			var s agent.Step
			switch a & 7 {
			case 0, 1:
				s = d.Output(agent.Stdout, out[:n])
				out = out[n:]
			case 2:
				s = d.Tick(time.Duration(a>>3) * time.Second)
			case 3:
				s = d.Resize(int(a), int(a>>3))
			case 4:
				s, _ = d.Send(string(out[:n]), "")
			case 5:
				s, _ = d.Interrupt()
			case 6:
				s = d.Attend(a > 100)
			case 7:
				s = d.Output(agent.Stderr, out[:n])
			}
			if len(s.Write) > 1<<16 {
				t.Fatalf("%d bytes were typed at once", len(s.Write))
			}
		}
		d.Output(agent.Stdout, out)
		d.Stop()
		d.Tick(time.Second)
		d.Exit(agent.Exit{Code: 1})
	})
}
