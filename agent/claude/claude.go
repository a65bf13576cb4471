// Package claude implements the streaming JSON protocol of Claude Code: one
// JSON object per line, in both directions.
//
// The prompt is the first line on stdin. The agent asks for permission by
// control requests, which the driver answers. A question to the person becomes
// a question event, and the agent waits until Send answers it. A result line
// ends a turn. When nothing that the driver sent is outstanding, stdin is
// closed and the agent ends.
package claude

import (
	"strconv"
	"time"

	"coppice"
	"coppice/agent"
)

// Name is the protocol's name in profiles.
const Name = "claude"

// Protocol implements agent.Protocol.
type Protocol struct{}

// New returns the protocol.
func New() Protocol { return Protocol{} }

// Name implements agent.Protocol.
func (Protocol) Name() string { return Name }

// Driver implements agent.Protocol. It is an agent.Hooker if the agent
// must ask.
func (Protocol) Driver(p coppice.Profile, r agent.Request) agent.Driver {
	d := &driver{
		prompt: r.Prompt, images: r.Images, dir: r.Dir, budget: r.Budget, Asker: agent.NewAsker(r),
		asked: map[string]*asking{}, models: map[string]string{}, refs: map[string]string{}, lostServers: map[string]bool{},
		noServers: r.WantsServers() && p.MCP == agent.MCPNone, wantsSchema: len(p.Schema) > 0 && r.SchemaLine() != nil,
	}
	d.Line = d.line
	if !r.Fork { // the name of a copy is not known yet
		d.conversation = r.Resume
	}
	if !r.MustAsk() {
		return d
	}
	d.hooks = r.HookURL != ""
	return hooked{d}
}

// driver is one run. line, in messages.go, takes the agent's output.
type driver struct {
	agent.Run
	*agent.Asker

	prompt      string
	images      []agent.Image // of the prompt
	dir         string
	cwd         string // of the agent's shell, as last reported by a hook
	budget      float64
	noServers   bool // tool servers were requested, and this agent gets none
	hooks       bool // the agent is configured to call hooks
	wantsSchema bool // its final message must match a schema

	conversation string
	messages     []string           // user lines written, the prompt first
	replayed     int                // how many of them were acknowledged
	interrupts   int                // the number of sent ones
	interrupted  bool               // the driver interrupted the current turn
	asked        map[string]*asking // by request id
	order        []string           // of asked, oldest first
	refs         map[string]string  // the tool calls that Asker asks about, by request id
	models       map[string]string  // requested and not yet confirmed, by request id
	switches     int                // the number of requests
	lostServers  map[string]bool    // tool servers that could not be reached
	hookSeen     bool               // a hook was called
	hooksChecked bool               // it was checked whether hooks are called
	warned       bool               // about an old version

	lastText           string    // the model's last message in this turn
	textBeforeReminder string    // and the one before the reminder of the schema
	last               *result   // of the latest turn
	final              string    // the final message of that turn
	spent              float64   // total cost in the last result, for agents that report no deltas
	now                time.Time // as in the agent's own lines
	limit              time.Time // when the account's limit ends, if it was reached
	status             int       // the HTTP status of the latest retry
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	d.say(d.prompt, d.images)
	d.images = nil
	d.Become(coppice.SessionWorking)
	if d.noServers {
		d.Notice("the agent's profile says that it accepts no tool servers; it works without them")
	}
	return d.Take()
}

// Send implements agent.Driver. With a ref it answers the question of that
// name. Without one, it is a message that reaches the agent at its next tool
// call, or starts a new turn.
func (d *driver) Send(text, ref string) (agent.Step, error) {
	return d.AnswerOrSend(text, ref, d.answer, d.SendImages)
}

// SendImages implements agent.Viewer.
func (d *driver) SendImages(text string, images []agent.Image) (agent.Step, error) {
	return d.WhileOpen(func() {
		d.say(text, images)
		if d.State == coppice.SessionIdle {
			d.Become(coppice.SessionWorking)
		}
	})
}

// Interrupt implements agent.Driver.
func (d *driver) Interrupt() (agent.Step, error) {
	return d.WhileOpen(d.interrupt)
}

func (d *driver) interrupt() {
	d.interrupts++
	d.interrupted = true
	d.Write(controlRequest{Type: "control_request", ID: "interrupt-" + strconv.Itoa(d.interrupts), Request: map[string]string{"subtype": "interrupt"}})
}

// Model implements agent.Switcher. The agent confirms it, or says why it
// cannot.
func (d *driver) Model(name string) (agent.Step, error) {
	if d.Closed {
		return agent.Step{}, agent.ErrCannot
	}
	if err := coppice.ValidModel(name); err != nil {
		return agent.Step{}, err
	}
	d.switches++
	id := "model-" + strconv.Itoa(d.switches)
	d.models[id] = name
	d.Write(controlRequest{Type: "control_request", ID: id, Request: map[string]string{"subtype": "set_model", "model": name}})
	return d.Take(), nil
}

// Stop implements agent.Driver: it interrupts the turn and closes stdin, upon
// which the agent ends.
func (d *driver) Stop() agent.Step {
	return d.StopWith(func() {
		d.interrupt()
		d.Close()
	})
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.End()
	d.unread()
	o := agent.Outcome{Conversation: d.conversation, Usage: d.Usage, Failure: d.withLostServers(d.failure(x))}
	if d.last != nil {
		o.Summary = d.final
	}
	return d.Last(), o
}

// unread reports messages that the agent has not acknowledged, and will not.
// The outcome covers the prompt. An agent that echoes nothing reports nothing.
func (d *driver) unread() {
	if d.replayed == 0 {
		return
	}
	for _, text := range d.messages[min(d.replayed, len(d.messages)):] {
		d.Emit(agent.Undelivered(text))
	}
}

// say writes a user line. Its images come before its text.
func (d *driver) say(text string, images []agent.Image) {
	d.messages = append(d.messages, text)
	var content any = text
	if len(images) > 0 {
		blocks := []any{}
		for _, i := range images {
			blocks = append(blocks, imageBlock{Type: "image", Source: imageSource{Type: "base64", Media: i.Type, Data: i.Data}})
		}
		content = append(blocks, textBlock{Type: "text", Text: text})
	}
	d.Write(userLine{Type: "user", Message: userMessage{Role: "user", Content: content}})
}
