package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// Agents ask their own questions in one of two ways: as the protocol's form, or
// as a permission request whose input has the questions and whose answer has a
// place for theirs.

const methodElicit = "elicitation/create"

// elicitation says which forms are shown to a person. Pages in a browser are
// not.
type elicitation struct {
	Form struct{} `json:"form"`
}

type elicitParams struct {
	Mode    string          `json:"mode"`
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"requestedSchema"`
}

// property is a field of a form, as JSON Schema has it.
type property struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	OneOf       []choice `json:"oneOf"`
	Items       struct {
		Enum  []string `json:"enum"`
		AnyOf []choice `json:"anyOf"`
	} `json:"items"`
}

type choice struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// about returns what the choice means, if its value does not say it. Some agents
// put it behind the value, in the title.
func (c choice) about() string {
	if c.Description != "" {
		return c.Description
	}
	return strings.Trim(strings.TrimPrefix(c.Title, c.Const), " —:-")
}

// form is a set of questions that the agent wants answered together.
type form struct {
	id      json.RawMessage // of the request
	option  string          // that submits it, if it is a permission request
	fields  []field
	refs    []string // of the questions, "" for answered ones
	answers map[string]any
}

// field is one question.
type field struct {
	key, kind, text string
	options         []agent.Option
	several         bool   // several options can be chosen
	own             string // the field for an answer that is not one of the options
}

// maxFields limits how many questions of a form a person is asked.
const maxFields = 20

// elicit shows a form to a person. A form that cannot be shown is declined, so
// that the agent continues without it.
func (d *driver) elicit(m jsonrpc.Message) {
	var p elicitParams
	f := &form{id: m.ID}
	err := json.Unmarshal(m.Params, &p)
	if err == nil {
		f.fields, err = fieldsOf(p)
	}
	switch {
	case d.phase != turning || d.cancelling:
		d.rpc.Reply(f.id, f.cancelled())
	case err != nil || len(f.fields) == 0 || (p.Mode != "" && p.Mode != "form"):
		d.rpc.Reply(f.id, map[string]string{"action": "decline"})
		d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "refused", Text: agent.Text("the agent asked for input that Coppice cannot show: " + p.Message)})
	default:
		d.inquire(f)
	}
}

// fieldsOf lists the fields of a form in their order. A field whose name is
// another's with the suffix _custom takes the answers that are not one of its
// options.
func fieldsOf(p elicitParams) ([]field, error) {
	var schema struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(p.Schema, &schema); err != nil {
		return nil, fmt.Errorf("acp: reading a form: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(schema.Properties))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("acp: a form without fields: %w", err)
	}
	var out []field
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var f property
		if err == nil && ok {
			err = dec.Decode(&f)
		}
		if err != nil || len(out) == maxFields {
			return nil, fmt.Errorf("acp: reading the fields of a form: %w", err)
		}
		if base, own := strings.CutSuffix(name, "_custom"); own {
			if i := slices.IndexFunc(out, func(o field) bool { return o.key == base && len(o.options) > 0 }); i >= 0 {
				out[i].own = name
				continue
			}
		}
		out = append(out, field{key: name, kind: f.Type, text: f.words(), options: f.options(), several: f.Type == "array"})
	}
	if len(out) == 1 && p.Message != "" {
		out[0].text = p.Message
	}
	return out, nil
}

func (p property) words() string {
	if p.Description != "" {
		return p.Description
	}
	return p.Title
}

func (p property) options() (out []agent.Option) {
	if p.Type == "boolean" {
		return []agent.Option{{Label: "yes"}, {Label: "no"}}
	}
	for _, value := range slices.Concat(p.Enum, p.Items.Enum) {
		out = append(out, agent.Option{Label: value})
	}
	for _, c := range slices.Concat(p.OneOf, p.Items.AnyOf) {
		out = append(out, agent.Option{Label: c.Const, Description: c.about()})
	}
	return out
}

// questions returns the questions of a permission request that asks for no
// permission: they are in the call's input, and there is nothing to allow
// permanently.
func questions(p permissionParams) []field {
	var in struct {
		Questions []struct {
			Text    string         `json:"question"`
			Many    bool           `json:"multiSelect"`
			Options []agent.Option `json:"options"`
		} `json:"questions"`
	}
	always := slices.ContainsFunc(p.Options, func(o permissionOption) bool { return o.Kind == "allow_always" })
	if json.Unmarshal(p.Call.Input, &in) != nil || always || choose(p.Options, true) == "" || len(in.Questions) > maxFields {
		return nil
	}
	var out []field
	for i, q := range in.Questions {
		if q.Text == "" {
			return nil
		}
		out = append(out, field{key: strconv.Itoa(i), kind: "string", text: q.Text, options: q.Options, several: q.Many, own: strconv.Itoa(i)})
	}
	return out
}

// inquire asks a person every question of a form.
func (d *driver) inquire(f *form) {
	f.answers = map[string]any{}
	d.forms = append(d.forms, f)
	d.endMessage()
	for _, q := range f.fields {
		d.asked++
		ref := "question-" + strconv.Itoa(d.asked)
		f.refs = append(f.refs, ref)
		e := coppice.AgentEvent{Kind: coppice.KindQuestion, Ref: ref, Text: agent.Text(q.text), Several: q.several}
		e.Options, e.Descriptions = agent.Choices(q.options)
		d.Emit(e)
	}
	d.Become(coppice.SessionWaiting)
}

// formOf finds the form that asked a question, and which of its fields it was.
func (d *driver) formOf(ref string) (*form, int) {
	for _, f := range d.forms {
		if i := slices.Index(f.refs, ref); i >= 0 {
			return f, i
		}
	}
	return nil, 0
}

// fill takes a person's answer to one question of a form, and sends the form to
// the agent when it was the last.
func (d *driver) fill(f *form, i int, text string) (agent.Step, error) {
	key, value, err := f.fields[i].value(text)
	if err != nil && strings.HasPrefix(text, coppice.NobodyAnswered) { // the form has no place for that
		d.rpc.Reply(f.id, f.cancelled())
		d.forms = slices.DeleteFunc(d.forms, func(o *form) bool { return o == f })
		d.resumeWork()
		return d.Take(), nil
	}
	if err != nil {
		return agent.Step{}, err
	}
	f.answers[key], f.refs[i] = value, ""
	if !slices.ContainsFunc(f.refs, func(ref string) bool { return ref != "" }) {
		d.rpc.Reply(f.id, f.filled())
		d.forms = slices.DeleteFunc(d.forms, func(o *form) bool { return o == f })
		d.resumeWork()
	}
	return d.Take(), nil
}

// filled returns the answer when all questions are answered.
func (f *form) filled() any {
	if f.option == "" {
		return map[string]any{"action": "accept", "content": f.answers}
	}
	return map[string]any{"outcome": outcome{Outcome: "selected", Option: f.option}, "answers": f.answers}
}

// cancelled returns the answer when nobody will answer.
func (f *form) cancelled() any {
	if f.option == "" {
		return map[string]string{"action": "cancel"}
	}
	return permissionResult{outcome{Outcome: "cancelled"}}
}

// value returns an answer in the form of the field, and the name of the field.
func (f field) value(text string) (string, any, error) {
	text = strings.TrimSpace(text)
	bad := func(format string, args ...any) (string, any, error) {
		return "", nil, coppice.Errorf(coppice.EInvalid, format, args...).WithFix("give another answer")
	}
	switch f.kind {
	case "boolean":
		return f.key, strings.EqualFold(text, "true") || coppice.ParsePermission(text).Allow, nil
	case "integer", "number":
		n := json.Number(text)
		if _, err := n.Int64(); err != nil {
			if _, err := n.Float64(); err != nil || f.kind == "integer" {
				return bad("%s is not a valid %s", coppice.Quote(text), f.kind)
			}
		}
		return f.key, n, nil
	case "array":
		var all []string
		for part := range strings.SplitSeq(text, ",") {
			one, ok := f.option(part)
			if !ok && f.own != "" {
				return f.own, text, nil
			}
			if !ok {
				return bad("%s is not one of %s", coppice.Quote(strings.TrimSpace(part)), f.labels())
			}
			all = append(all, one)
		}
		return f.key, all, nil
	}
	one, ok := f.option(text)
	switch {
	case ok || len(f.options) == 0:
		return f.key, one, nil
	case f.own != "":
		return f.own, text, nil
	}
	return bad("%s is not one of %s", coppice.Quote(text), f.labels())
}

// option finds the option that an answer names. Other answers are returned
// unchanged.
func (f field) option(text string) (string, bool) {
	text = strings.TrimSpace(text)
	for _, o := range f.options {
		if strings.EqualFold(o.Label, text) {
			return o.Label, true
		}
	}
	return text, false
}

// labels lists the options for people.
func (f field) labels() string {
	list, _ := agent.Choices(f.options)
	return strings.Join(list, ", ")
}
