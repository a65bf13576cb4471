package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// permissionParams asks whether a tool can be used. The agent says which
// answers it accepts.
type permissionParams struct {
	Call    toolUpdate         `json:"toolCall"`
	Options []permissionOption `json:"options"`
}

type permissionOption struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// The driver's answers.
type (
	permissionResult struct {
		Outcome outcome `json:"outcome"`
	}
	outcome struct {
		Outcome string `json:"outcome"`
		Option  string `json:"optionId,omitempty"`
	}
)

// pending is a permission request that waits for a person.
type pending struct {
	id      json.RawMessage // of the request
	tool    string          // id of the call
	options []permissionOption
}

// permission answers a permission request, or asks a person. While a turn is
// being cancelled, the protocol requires that answer.
func (d *driver) permission(m jsonrpc.Message) {
	var p permissionParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		p = permissionParams{} // it offers no valid answer, and is refused
	}
	t := d.merge(p.Call)
	d.show(p.Call.ID, t)
	q := pending{id: m.ID, tool: p.Call.ID, options: slices.Clone(p.Options)}
	c := d.callOf(t)
	if d.cancelling || d.phase != turning {
		d.refuse(q, c)
		return
	}
	v := d.Asker.Decide(judged(c))
	if asked := questions(p); v.Do != coppice.RuleDeny && asked != nil {
		d.inquire(&form{id: q.id, fields: asked, option: choose(q.options, true)})
		return
	}
	if v.Do != coppice.RuleAsk {
		d.settle(q, c, v)
		return
	}
	d.asked++
	ref := "permission-" + strconv.Itoa(d.asked)
	e, _ := d.Asker.Ask(c, ref) // the ref is unique
	d.waiting[ref] = q
	d.endMessage()
	d.Emit(e)
	d.Become(coppice.SessionWaiting)
}

// answer passes a person's answer to the request that waits for it.
func (d *driver) answer(text, ref string) (agent.Step, error) {
	if f, i := d.formOf(ref); f != nil {
		return d.fill(f, i, text)
	}
	q, ok := d.waiting[ref]
	v, c, asked := d.Asker.Answer(text, ref)
	if !ok || !asked {
		return agent.Step{}, fmt.Errorf("acp: no open question %q: %w", ref, agent.ErrCannot)
	}
	delete(d.waiting, ref)
	d.settle(q, c, v)
	d.resumeWork()
	return d.Take(), nil
}

// resumeWork reports that the agent works again, when no question is open.
func (d *driver) resumeWork() {
	if len(d.waiting)+len(d.forms) == 0 && d.State == coppice.SessionWaiting {
		d.Become(coppice.SessionWorking)
	}
}

// settle answers a request with the verdict. The protocol cannot change a call,
// so a call that a rule would change is refused. It cannot say why a call was
// refused either, so the agent gets the reason after its turn.
func (d *driver) settle(q pending, c agent.Call, v agent.Verdict) {
	if v.Input != nil && !sameJSON(v.Input, judged(c).Input) {
		v = agent.Verdict{Do: coppice.RuleDeny, Why: agent.Text("the project's rules require this instead: " + string(v.Input)), Rule: v.Rule}
	}
	option := choose(q.options, v.Allowed())
	text := "allowed"
	switch {
	case option == "" && v.Allowed():
		v.Do, text = coppice.RuleDeny, "refused: the agent offers no answer that allows it"
	case !v.Allowed():
		text, d.turn.refused = v.Why, true
		d.explain(c, v.Why)
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindPermission, Ref: q.tool, Name: c.Name, Input: agent.Bounded(c.Input), Text: text, OK: v.Allowed()})
	if option == "" {
		d.rpc.Reply(q.id, permissionResult{outcome{Outcome: "cancelled"}})
		return
	}
	d.rpc.Reply(q.id, permissionResult{outcome{Outcome: "selected", Option: option}})
}

// refuse answers a request of a turn that has ended or is being cancelled.
func (d *driver) refuse(q pending, c agent.Call) {
	d.Emit(coppice.AgentEvent{Kind: coppice.KindPermission, Ref: q.tool, Name: c.Name, Input: agent.Bounded(c.Input), Text: "cancelled with its turn"})
	d.rpc.Reply(q.id, permissionResult{outcome{Outcome: "cancelled"}})
}

// withdraw ends all questions: nobody waits for their answers any more.
func (d *driver) withdraw() {
	for _, ref := range d.Asker.Waiting() {
		q := d.waiting[ref]
		delete(d.waiting, ref)
		_, c, _ := d.Asker.Answer(coppice.AnswerDeny, ref)
		d.refuse(q, c)
	}
	for _, f := range d.forms {
		d.rpc.Reply(f.id, f.cancelled())
	}
	d.forms = nil
	d.resumeWork()
}

// judged returns a call as rules judge it. The input of a command is its line,
// which some agents send in other forms.
func judged(c agent.Call) agent.Call {
	var in struct {
		Command string `json:"command"`
	}
	if c.Command != "" && (json.Unmarshal(c.Input, &in) != nil || in.Command == "") {
		c.Input = agent.Encode(map[string]string{"command": c.Command})
	}
	return c
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// explain keeps why a call was refused. The agent gets each reason one time.
func (d *driver) explain(c agent.Call, why string) {
	line := "- " + c.Name + ": " + why
	if why != "" && !slices.Contains(d.refusals, line) && len(d.refusals) < 100 {
		d.refusals = append(d.refusals, line)
		d.unsent = append(d.unsent, line)
	}
}

// reasons returns the message that says why calls were refused.
func (d *driver) reasons() string {
	text := "Some of your tool calls were refused:\n" + strings.Join(d.unsent, "\n") + "\nContinue in another way if possible, or say what you need."
	d.unsent = nil
	return text
}

// choose picks the narrowest of the answers that match the verdict, "" if there
// is none.
func choose(options []permissionOption, allow bool) string {
	kinds := []string{"reject_once", "reject_always"}
	if allow {
		kinds = []string{"allow_once", "allow_always"}
	}
	for _, k := range kinds {
		for _, o := range options {
			if o.Kind == k && o.ID != "" {
				return o.ID
			}
		}
	}
	return ""
}

var webRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`https?://[^\s"'<>]+`) })

// callOf returns a tool call in common terms. Agents send the command or the
// address in the input, and some only in the title.
func (d *driver) callOf(t *tool) agent.Call {
	c := agent.Call{Name: t.name, Kind: t.kind, Input: bytes.Clone(t.input), Paths: slices.Clone(t.paths), Dir: d.dir}
	var in struct {
		Command json.RawMessage `json:"command"`
		URL     string          `json:"url"`
		File    string          `json:"file_path"`
		Path    string          `json:"path"`
	}
	_ = json.Unmarshal(t.input, &in) // an input of another shape is ignored
	switch t.kind {
	case coppice.ToolRun:
		if c.Command = command(in.Command); c.Command == "" {
			c.Command = strings.Trim(t.title, "` \n")
		}
	case coppice.ToolFetch:
		if c.URL = in.URL; c.URL == "" {
			c.URL = webRE().FindString(t.title)
		}
	default:
		for _, p := range []string{in.File, in.Path} {
			if p != "" && !slices.Contains(c.Paths, p) {
				c.Paths = append(c.Paths, p)
			}
		}
	}
	return c
}

// command returns a shell line, sent as such or as the words of a program.
func command(raw json.RawMessage) string {
	var line string
	if json.Unmarshal(raw, &line) == nil {
		return line
	}
	var words []string
	if json.Unmarshal(raw, &words) != nil {
		return ""
	}
	if n := len(words); n == 3 && strings.HasSuffix(words[0], "sh") && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2]
	}
	return strings.Join(words, " ")
}
