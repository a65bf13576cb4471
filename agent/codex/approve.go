package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// The agent's requests.
const (
	askCommand     = "item/commandExecution/requestApproval"
	askChange      = "item/fileChange/requestApproval"
	askPermissions = "item/permissions/requestApproval"
	askServer      = "mcpServer/elicitation/request"
	askPerson      = "item/tool/requestUserInput"
	askTool        = "item/tool/call"
)

// pending is a request of the agent that waits for a person.
type pending struct {
	id     json.RawMessage
	refs   []string // of its open questions
	item   string   // of the tool, for a permission
	thread string
	answer func(allow bool) any // for a permission

	questions []question // of the agent itself
	answers   map[string]answers
}

type question struct {
	ID      string         `json:"id"`
	Text    string         `json:"question"`
	Options []agent.Option `json:"options"`
}

type answers struct {
	Answers []string `json:"answers"`
}

// approval has the common fields of requests for permission.
type approval struct {
	Thread  string   `json:"threadId"`
	Item    string   `json:"itemId"`
	Command string   `json:"command"`
	Cwd     string   `json:"cwd"`
	Actions []action `json:"commandActions"`
	Root    string   `json:"grantRoot"`
	Network *struct {
		Host     string `json:"host"`
		Protocol string `json:"protocol"`
	} `json:"networkApprovalContext"`
	Permissions json.RawMessage `json:"permissions"`
	Server      string          `json:"serverName"`
	Message     string          `json:"message"`
	Meta        struct {
		Kind   string          `json:"codex_approval_kind"`
		Params json.RawMessage `json:"tool_params"`
	} `json:"_meta"`
}

type decision struct {
	Decision string `json:"decision"`
}

func decided(allow bool) any {
	if allow {
		return decision{"accept"}
	}
	return decision{"decline"}
}

// requested answers a request of the agent, or asks a person. It answers every
// one, because the agent would wait without limit.
func (d *driver) requested(p jsonrpc.Message) {
	var a approval
	if err := json.Unmarshal(p.Params, &a); err != nil {
		d.rpc.Refuse(p.ID, "the request cannot be read")
		return
	}
	switch p.Method {
	case askCommand:
		d.approveCommand(p.ID, a)
	case askChange:
		c, it := d.callOf(a.Item, typeChange)
		if a.Root != "" {
			c.Paths = append(c.Paths, a.Root)
		}
		d.approve(pending{id: p.ID, item: a.Item, thread: a.Thread, answer: decided}, c, it.Actions)
	case askPermissions:
		wanted := a.Permissions
		c := agent.Call{Name: "permissions", Kind: coppice.ToolOther, Input: wanted, Dir: d.request.Dir}
		d.approve(pending{id: p.ID, item: a.Item, thread: a.Thread, answer: func(allow bool) any {
			if allow && len(wanted) > 0 {
				return map[string]any{"permissions": wanted, "scope": "turn"}
			}
			return map[string]any{"permissions": struct{}{}, "scope": "turn"}
		}}, c, nil)
	case askServer:
		d.approveServer(p.ID, a)
	case askPerson:
		d.inquire(p, a.Thread)
	case askTool:
		d.rpc.Reply(p.ID, map[string]any{"success": false, "contentItems": []input{{Type: "inputText", Text: "this tool is not offered"}}})
	default:
		d.rpc.Refuse(p.ID, "the client does not offer "+agent.Clip(p.Method))
		d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "refused", Text: "the agent asked for " + agent.Clip(p.Method) + ", which Coppice does not offer"})
	}
}

// callOf returns the call of a tool that the agent reported before it asked.
func (d *driver) callOf(id, kind string) (agent.Call, item) {
	t, ok := d.items[id]
	if !ok {
		t = &tracked{item: item{part: part{ID: id, Type: kind}}}
	}
	return d.toolCall(t.item), t.item
}

func (d *driver) approveCommand(id json.RawMessage, a approval) {
	c, it := d.callOf(a.Item, typeCommand)
	actions := it.Actions
	switch {
	case a.Network != nil && a.Network.Host != "":
		c = agent.Call{Name: "network", Kind: coppice.ToolFetch, URL: a.Network.Protocol + "://" + a.Network.Host, Dir: d.request.Dir}
		c.Input, actions = agent.Encode(map[string]string{"url": c.URL}), nil
	case a.Command != "":
		it.Type, it.Command, it.Cwd, actions = typeCommand, a.Command, cmp.Or(a.Cwd, it.Cwd), a.Actions
		c = d.toolCall(it)
	}
	d.approve(pending{id: id, item: a.Item, thread: a.Thread, answer: decided}, c, actions)
}

// approveServer answers a tool server's request: the agent's own, whether one
// of its tools can be used, or the server's, to fill in a form, which nobody
// can.
func (d *driver) approveServer(id json.RawMessage, a approval) {
	type elicited struct {
		Action  string    `json:"action"`
		Content *struct{} `json:"content,omitempty"`
	}
	if a.Meta.Kind != "mcp_tool_call" {
		d.rpc.Reply(id, elicited{Action: "decline"})
		d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "refused", Text: "the tool server " + agent.Clip(a.Server) + " asked for input, which Coppice does not support: " + agent.Clip(a.Message)})
		return
	}
	var c agent.Call // empty if the tool is not known
	item := d.serverItem(a)
	if item != "" {
		c, _ = d.callOf(item, typeMCP)
	}
	d.approve(pending{id: id, item: item, thread: a.Thread, answer: func(allow bool) any {
		if allow {
			return elicited{"accept", &struct{}{}}
		}
		return elicited{Action: "decline"}
	}}, c, nil)
}

// serverItem finds the tool that a request is about. The request has only the
// server, the arguments, and the tool's name in a text. Of the server's tools
// that wait for permission, the best match counts.
func (d *driver) serverItem(a approval) string {
	found, best := "", -1
	for _, id := range slices.Sorted(maps.Keys(d.items)) {
		t := d.items[id]
		if t.item.Type != typeMCP || t.item.Server != a.Server || t.asked {
			continue
		}
		score := 0
		if sameJSON(t.item.Args, a.Meta.Params) {
			score += 2
		}
		if strings.Contains(a.Message, strconv.Quote(t.item.Tool)) {
			score++
		}
		if score > best {
			found, best = id, score
		}
	}
	return found
}

// sameJSON compares the values of two texts. Nothing equals an empty object.
func sameJSON(a, b json.RawMessage) bool { return bytes.Equal(plain(a), plain(b)) }

func plain(raw json.RawMessage) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil || v == nil {
		return []byte("{}")
	}
	return agent.Encode(v)
}

// vague reports whether a call does not say what it is used on, so that rules
// about that cannot be applied.
func vague(c agent.Call) bool {
	switch c.Kind {
	case coppice.ToolRun:
		return c.Command == ""
	case coppice.ToolEdit:
		return len(c.Paths) == 0
	}
	return c.Name == ""
}

// approve answers a request for permission by the rules, or asks a person.
func (d *driver) approve(p pending, c agent.Call, actions []action) {
	if t := d.items[p.item]; t != nil {
		t.asked = true
	}
	if d.interrupting || d.Closed || d.phase != turning {
		d.settle(&p, c, agent.Verdict{Do: coppice.RuleDeny, Why: "cancelled with its turn"})
		return
	}
	v := d.decide(c, actions)
	if vague(c) && d.Asker.Restricts() {
		v = agent.Verdict{Do: coppice.RuleDeny, Why: "the call does not say what it is used on"}
	}
	if v.Do != coppice.RuleAsk {
		d.settle(&p, c, v)
		return
	}
	ref := "approval-" + refOf(p.id)
	if e, fresh := d.Asker.Ask(c, ref); fresh {
		p.refs = []string{ref}
		d.wait(&p)
		d.Emit(e)
		d.Become(coppice.SessionWaiting)
	}
}

// refOf returns a request's id as part of a name.
func refOf(id json.RawMessage) string {
	return strings.ReplaceAll(strings.Trim(string(id), `"`), " ", "_")
}

// settle answers a request for permission. The answer cannot change the input
// or give a reason, so the agent is refused, and gets the reason as a message.
func (d *driver) settle(p *pending, c agent.Call, v agent.Verdict) {
	if v.Allowed() && v.Input != nil && !sameJSON(v.Input, c.Input) {
		v.Do, v.Why = coppice.RuleDeny, "the project's rules require this instead: "+string(v.Input)
	}
	text := "allowed"
	if !v.Allowed() {
		text = "denied: " + v.Why
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindPermission, Ref: p.item, Name: c.Name, Tool: c.Kind, Input: agent.Bounded(c.Input), Paths: c.Paths, Text: agent.Text(text), OK: v.Allowed()})
	if !v.Allowed() && d.phase == turning && d.turn != "" && !d.interrupting && p.thread == d.conversation {
		// The agent continues as soon as it is refused, so it gets the reason
		// first.
		m := d.message("That was not allowed: "+v.Why, nil)
		m.own, m.then = true, func() { d.rpc.Reply(p.id, p.answer(false)) }
		d.steer(m)
		return
	}
	d.rpc.Reply(p.id, p.answer(v.Allowed()))
}

// inquire asks a person the agent's own questions.
func (d *driver) inquire(p jsonrpc.Message, thread string) {
	var n struct {
		Questions []question `json:"questions"`
	}
	if json.Unmarshal(p.Params, &n) != nil || len(n.Questions) == 0 || d.Closed || d.phase != turning || d.interrupting {
		d.rpc.Reply(p.ID, map[string]any{"answers": struct{}{}})
		return
	}
	if d.pending[string(p.ID)] != nil {
		return
	}
	q := &pending{id: p.ID, thread: thread, questions: n.Questions, answers: map[string]answers{}}
	for i, one := range n.Questions {
		ref := "question-" + refOf(p.ID)
		if len(n.Questions) > 1 {
			ref += "#" + strconv.Itoa(i+1)
		}
		q.refs = append(q.refs, ref)
		e := coppice.AgentEvent{Kind: coppice.KindQuestion, Ref: ref, Text: agent.Text(one.Text)}
		e.Options, e.Descriptions = agent.Choices(one.Options)
		d.Emit(e)
	}
	d.wait(q)
	d.Become(coppice.SessionWaiting)
}

func (d *driver) wait(p *pending) {
	d.pending[string(p.id)] = p
	d.order = append(d.order, string(p.id))
}

func (d *driver) waits() bool { return len(d.pending) > 0 }

// answer takes a person's answer to the question of that ref. When a request
// has all of its answers, the agent continues.
func (d *driver) answer(text, ref string) (agent.Step, error) {
	for _, id := range d.order {
		p := d.pending[id]
		if !slices.Contains(p.refs, ref) {
			continue
		}
		if p.questions == nil {
			v, c, _ := d.Asker.Answer(text, ref) // the question is open, because it is pending
			d.settle(p, c, v)
			d.withdraw(id)
			return d.Take(), nil
		}
		n := 0
		if _, suffix, several := strings.Cut(ref, "#"); several {
			n, _ = strconv.Atoi(suffix) // the driver made the ref
			n--
		}
		p.answers[p.questions[n].ID] = answers{[]string{text}}
		p.refs = slices.DeleteFunc(p.refs, func(s string) bool { return s == ref })
		if len(p.refs) == 0 {
			d.rpc.Reply(p.id, map[string]any{"answers": p.answers})
			d.withdraw(id)
		}
		return d.Take(), nil
	}
	return agent.Step{}, fmt.Errorf("codex: no open question %q: %w", ref, agent.ErrCannot)
}

// withdraw removes a request that waits: it was answered, or nobody waits for
// the answer any more.
func (d *driver) withdraw(id string) {
	p, ok := d.pending[id]
	if !ok {
		return
	}
	delete(d.pending, id)
	d.order = slices.DeleteFunc(d.order, func(s string) bool { return s == id })
	for _, ref := range p.refs {
		d.Asker.Withdraw(ref)
	}
	if !d.waits() && d.State == coppice.SessionWaiting {
		d.Become(coppice.SessionWorking)
	}
}
