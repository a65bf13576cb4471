// Package acp implements the Agent Client Protocol: JSON-RPC 2.0, one message
// per line, in both directions. One driver serves every agent that has it.
//
// The driver announces itself, opens a session in the workspace (or continues
// one), chooses the model if the agent offers a choice, and sends the prompt.
// The answer to the prompt ends the turn. A message during a turn waits for its
// end and starts the next, or is sent immediately to agents that accept it
// (driver.messages). When nothing waits, stdin is closed.
//
// The driver offers the agent no files and no terminals: the agent has its own.
// The session's rules, or a person, answer permission requests. A person
// answers the agent's own questions. The driver compares the cost that an agent
// reports with the budget. Agents get tool servers over stdin, with the
// session's token in their headers, because agents of this protocol do not
// expand variables.
//
// Agents that need a login method name the ones that they know. A profile
// chooses one with driver.auth. It is used only if the agent refuses to open a
// session without it: some agents remember the chosen method permanently.
package acp

import (
	"encoding/json"
	"regexp"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// Name is the protocol's name in profiles.
const Name = "acp"

// Protocol implements agent.Protocol.
type Protocol struct{}

// New returns the protocol.
func New() Protocol { return Protocol{} }

// Name implements agent.Protocol.
func (Protocol) Name() string { return Name }

// Launch implements agent.Protocol. A request continues a conversation, so
// profiles need no arguments for it.
func (Protocol) Launch(p coppice.Profile, r agent.Request) (agent.Launch, error) {
	if _, err := agent.Servers(p, r); err != nil {
		return agent.Launch{}, err
	}
	l, err := agent.LaunchProfile(p, r)
	if named(p) {
		l = l.With(r.Secrets)
	}
	if err != nil || !r.MustAsk() {
		return l, err
	}
	l.Argv = append(l.Argv, p.Driver.AskArgs...)
	return l.With(p.Driver.AskEnv), nil
}

// metaOf returns the profile's _meta for opening a session, with the budget
// filled in.
func metaOf(p coppice.Profile, r agent.Request) map[string]any {
	var meta map[string]any
	_ = json.Unmarshal([]byte(p.Driver.Meta), &meta) // the profile was checked; it can be empty
	fillBudget(meta, r.Budget)
	return meta
}

// named reports whether the agent fills in the token and secrets from its
// environment. It must not get them over stdin: it would start a program with
// them as an argument.
func named(p coppice.Profile) bool { return p.Driver.Secrets == coppice.SecretsNamed }

// fillBudget replaces the placeholder of the budget in place.
func fillBudget(meta map[string]any, usd float64) {
	for k, v := range meta {
		if inner, ok := v.(map[string]any); ok {
			fillBudget(inner, usd)
		}
		if v == agent.SlotUSD {
			meta[k] = usd
			if usd <= 0 {
				delete(meta, k)
			}
		}
	}
}

// AcceptsMessages reports whether agents of a profile accept messages during a
// turn.
func AcceptsMessages(p coppice.Profile) bool { return p.Driver.Messages == coppice.MessagesNow }

// Driver implements agent.Protocol.
func (Protocol) Driver(p coppice.Profile, r agent.Request) agent.Driver {
	d := &driver{
		dir: r.Dir, resume: r.Resume, auth: p.Driver.Auth, queue: []message{{r.Prompt, r.Images}},
		tools: map[string]*tool{}, spent: r.Spent.CostUSD,
		Asker: agent.NewAsker(r), waiting: map[string]pending{},
		wanted: r.WantsServers(), now: AcceptsMessages(p), budget: r.Budget,
	}
	d.rpc = jsonrpc.Peer{
		Version: "2.0", Send: d.Write, Request: d.request, Notified: d.notified, Stray: d.stray,
		Garbage: func(b []byte) { d.Notice(string(b)) }, // programs sometimes print warnings there
	}
	d.Line, d.ErrLine = d.rpc.Line, d.complain
	if servers, err := agent.Servers(p, r); err == nil { // Launch has refused invalid ones
		d.servers = toolServers(servers, p, r)
		if program, ok := r.ToolProgram(); ok && d.servers != nil {
			d.program = toolServers(map[string]coppice.MCPServer{agent.ToolServer: program}, p, r)
		}
	}
	d.meta = metaOf(p, r)
	if r.Fork {
		d.resume, d.fork = "", r.Resume
	}
	if len(p.Model) == 0 { // otherwise its arguments choose it
		d.model = r.Model
	}
	if p.Driver.RetryLog != "" {
		d.retryLog, _ = regexp.Compile(p.Driver.RetryLog) // the profile was checked
	}
	if len(p.Effort) == 0 {
		d.effort = r.Effort
	}
	if len(p.Budget) > 0 {
		d.budget = 0 // the agent enforces it
	}
	return d
}

// phase is the state of a run.
type phase int

const (
	opening phase = iota // no session yet
	turning              // a prompt was sent and not answered
	resting              // between turns
)

// driver is one run.
type driver struct {
	agent.Run
	*agent.Asker
	rpc jsonrpc.Peer

	dir      string
	resume   string // the conversation to continue
	model    string // to choose by a request
	effort   string // likewise
	now      bool   // messages are sent during a turn
	budget   float64
	retryLog *regexp.Regexp // matches its reports of failed requests
	auth     string         // the login method
	fork     string         // the conversation to continue a copy of

	servers []toolServer
	program []toolServer   // the tools of Coppice as a program, if the session has them
	meta    map[string]any // sent when a session is opened
	wanted  bool           // tool servers were requested

	phase        phase
	queue        []message        // messages that start turns, the first prompt included
	prompts      int              // sent
	unanswered   []*underway      // prompts without an answer
	cancelling   bool             // the driver is cancelling the current turn
	overspent    bool             // the budget is spent
	loggedIn     bool             // a login was tried
	past         bool             // the agent sent something of the conversation's past
	limit        *coppice.Failure // the turn was ended because of it
	agent        initialized
	session      session
	conversation string

	speech speech
	tools  map[string]*tool // of the current turn, by id
	turn   tally            // the usage of the current turn
	spent  float64          // cost of the conversation, as last reported
	last   *ending          // of the latest turn

	asked    int                // questions so far
	waiting  map[string]pending // by the question's ref
	forms    []*form            // the agent's own questions, oldest first
	refusals []string           // why calls were refused
	unsent   []string           // the refusals that the agent does not know yet
	fatal    *coppice.Failure
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	d.rpc.Call("initialize", initializeParams{
		Version: protocolVersion,
		Client:  clientInfo{Name: "coppice", Title: "Coppice", Version: "1"},
	}, d.initialized)
	d.Become(coppice.SessionWorking)
	return d.Take()
}

// complain takes a line of stderr.
func (d *driver) complain(line []byte) {
	d.Complain(line)
	d.checkRetry(line)
}

// Send implements agent.Driver. The message starts a turn: now if none is in
// progress, else when the current one ends. Until then it is not delivered.
// With a ref it answers a permission question.
func (d *driver) Send(text, ref string) (agent.Step, error) {
	return d.AnswerOrSend(text, ref, d.answer, d.SendImages)
}

// SendImages implements agent.Viewer.
func (d *driver) SendImages(text string, images []agent.Image) (agent.Step, error) {
	return d.WhileOpen(func() {
		d.queue = append(d.queue, message{text, images})
		switch {
		case d.phase == resting:
			d.prompt()
		case d.phase == turning && d.now && !d.cancelling:
			d.sendNext(true)
		default:
			d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "queued", Text: "the message waits for the end of the turn"})
		}
	})
}

// Interrupt implements agent.Driver.
func (d *driver) Interrupt() (agent.Step, error) {
	if d.Closed || d.phase != turning {
		return agent.Step{}, agent.ErrCannot
	}
	d.cancel()
	return d.Take(), nil
}

func (d *driver) cancel() {
	d.cancelling = true
	d.withdraw()
	d.rpc.Notify("session/cancel", sessionParams{Session: d.conversation})
}

// Model implements agent.Switcher, for agents that offer a choice of models.
func (d *driver) Model(name string) (agent.Step, error) {
	if err := coppice.ValidModel(name); err != nil {
		return agent.Step{}, err
	}
	if d.Closed || d.phase == opening || !d.chooses() {
		return agent.Step{}, agent.ErrCannot
	}
	d.choose(name, func(m jsonrpc.Message) { d.switched(name, m) })
	return d.Take(), nil
}

// Stop implements agent.Driver: it cancels the turn and closes stdin, upon
// which most agents end.
func (d *driver) Stop() agent.Step {
	return d.StopWith(func() {
		if d.phase == turning {
			d.cancel()
		}
		d.Finish()
	})
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.End()
	d.endMessage()
	if d.prompts == 0 {
		d.queue = d.queue[1:] // the prompt, which the failure covers
	}
	for _, m := range d.queue {
		d.Emit(agent.Undelivered(m.text))
	}
	for _, u := range d.unanswered {
		if u.joined {
			d.Emit(agent.Undelivered(u.text))
		}
	}
	o := agent.Outcome{Conversation: d.conversation, Usage: d.Usage, Failure: d.failure(x)}
	if d.last != nil {
		o.Summary = d.last.text
	}
	return d.Last(), o
}

// message is a text for the agent, with images of a person.
type message struct {
	text   string
	images []agent.Image
}

// content returns the message in the protocol's form. An agent that cannot see
// images gets a sentence that says so.
func (d *driver) content(m message) []content {
	if n := len(m.images); n > 0 && !d.agent.Capabilities.Prompt.Image {
		d.Notice(agent.Unseen(n))
		return []content{{Type: "text", Text: agent.WithoutImages(m.text, n)}}
	}
	all := []content{{Type: "text", Text: m.text}}
	for _, i := range m.images {
		all = append(all, content{Type: "image", Media: i.Type, Data: i.Data})
	}
	return all
}

// underway is a prompt without an answer. joined says that it was sent during a
// turn.
type underway struct {
	message
	joined bool
}

// prompt starts a turn with the message that has waited longest.
func (d *driver) prompt() {
	d.phase, d.cancelling, d.turn = turning, false, tally{}
	d.sendNext(false)
	d.Become(coppice.SessionWorking)
}

// sendNext sends the message that has waited longest.
func (d *driver) sendNext(joins bool) {
	m := d.queue[0]
	d.queue = d.queue[1:]
	u := &underway{m, joins}
	d.unanswered = append(d.unanswered, u)
	d.rpc.Call("session/prompt", promptParams{Session: d.conversation, Prompt: d.content(m)}, func(m jsonrpc.Message) { d.ended(u, m) })
	if d.prompts++; d.prompts > 1 {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "delivered", Text: "the message was sent to the agent"})
	}
}
