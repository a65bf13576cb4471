package acp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// The parameters of the driver's requests.
type (
	initializeParams struct {
		Version      int                `json:"protocolVersion"`
		Capabilities clientCapabilities `json:"clientCapabilities"`
		Client       clientInfo         `json:"clientInfo"`
	}
	clientCapabilities struct {
		FS struct {
			Read  bool `json:"readTextFile"`
			Write bool `json:"writeTextFile"`
		} `json:"fs"`
		Terminal    bool        `json:"terminal"`
		Elicitation elicitation `json:"elicitation"`
	}
	clientInfo struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	}
	authParams struct {
		Method string `json:"methodId"`
	}
	openParams struct {
		Session string         `json:"sessionId,omitempty"`
		Dir     string         `json:"cwd"`
		Servers []toolServer   `json:"mcpServers"`
		Meta    map[string]any `json:"_meta,omitempty"`
	}
	modeParams struct {
		Session string `json:"sessionId"`
		Mode    string `json:"modeId"`
	}
	modelParams struct {
		Session string `json:"sessionId"`
		Model   string `json:"modelId"`
	}
	optionParams struct {
		Session string `json:"sessionId"`
		Option  string `json:"configId"`
		Value   string `json:"value"`
	}
	promptParams struct {
		Session string    `json:"sessionId"`
		Prompt  []content `json:"prompt"`
	}
	sessionParams struct {
		Session string `json:"sessionId"`
	}
)

// toolServer is a tool server in the protocol's form: one at an address, or one
// that the agent starts, which has no type.
type toolServer struct {
	Type    string   `json:"type,omitempty"`
	Name    string   `json:"name"`
	URL     string   `json:"url,omitempty"`
	Headers []header `json:"headers,omitzero"`
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitzero"`
	Env     []header `json:"env,omitzero"`
}

// header is a header or a variable.
type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// http reports whether the agent needs HTTP for it.
func (s toolServer) http() bool { return s.Type == "http" }

func toolServers(all map[string]coppice.MCPServer, p coppice.Profile, r agent.Request) []toolServer {
	fill := r.Fill
	if named(p) {
		fill = func(text string) string { return text }
	}
	var out []toolServer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if argv := all[name].Command; len(argv) > 0 {
			s := toolServer{Name: name, Command: argv[0], Args: append([]string{}, argv[1:]...), Env: []header{}}
			for _, k := range slices.Sorted(maps.Keys(all[name].Env)) {
				s.Env = append(s.Env, header{k, fill(all[name].Env[k])})
			}
			out = append(out, s)
			continue
		}
		s := toolServer{Type: "http", Name: name, URL: all[name].URL, Headers: []header{}}
		for _, h := range slices.Sorted(maps.Keys(all[name].Headers)) {
			s.Headers = append(s.Headers, header{h, fill(all[name].Headers[h])})
		}
		out = append(out, s)
	}
	return out
}

// initialized is the agent's description of itself.
type initialized struct {
	Version      int `json:"protocolVersion"`
	Capabilities struct {
		Load bool `json:"loadSession"`
		MCP  struct {
			HTTP bool `json:"http"`
		} `json:"mcpCapabilities"`
		Prompt struct {
			Image bool `json:"image"`
		} `json:"promptCapabilities"`
		Session struct {
			Resume json.RawMessage `json:"resume"`
			Fork   json.RawMessage `json:"fork"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	Info struct {
		Version string `json:"version"`
	} `json:"agentInfo"`
	Auth []authMethod `json:"authMethods"`
}

type authMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

func (d *driver) initialized(m jsonrpc.Message) {
	if m.Error != nil {
		d.giveUp(agent.Fail(errorClass(m.Error), errorText(m.Error)))
		return
	}
	if err := json.Unmarshal(m.Result, &d.agent); err != nil {
		d.giveUp(agent.Fail(coppice.ClassCapability, "the agent's answer to initialize cannot be read: "+err.Error()))
		return
	}
	if d.agent.Version != protocolVersion {
		d.giveUp(agent.Fail(coppice.ClassCapability, "the agent uses another version of the Agent Client Protocol"))
		return
	}
	d.open()
}

// open requests a session. Of the two methods to continue one, it prefers the
// one that does not send the whole past again.
func (d *driver) open() {
	p := openParams{Dir: d.dir, Servers: d.servers, Meta: d.meta}
	switch {
	case d.wanted && d.servers == nil:
		d.Notice("the agent's profile says that it accepts no tool servers; it works without them")
	case slices.ContainsFunc(d.servers, toolServer.http) && !d.agent.Capabilities.MCP.HTTP:
		// Every agent of this protocol starts programs. The tools of Coppice are
		// also a program.
		p.Servers = nil
		for _, s := range d.servers {
			switch {
			case !s.http():
				p.Servers = append(p.Servers, s)
			case s.Name == agent.ToolServer && d.program != nil:
				p.Servers = append(p.Servers, d.program...)
			}
		}
		if len(p.Servers) < len(d.servers) {
			d.Emit(coppice.AgentEvent{Kind: coppice.KindError, Class: coppice.ClassMCP, Text: "the agent accepts no tool servers over HTTP; it works without them"})
		}
	}
	if p.Servers == nil {
		p.Servers = []toolServer{}
	}
	method := "session/new"
	if d.fork != "" {
		if has(d.agent.Capabilities.Session.Fork) {
			method, p.Session = methodFork, d.fork
		} else {
			d.fork = ""
			d.Notice("the agent cannot copy a conversation; it starts a new one")
		}
	}
	if d.resume != "" {
		p.Session = d.resume
		switch offered := d.agent.Capabilities; {
		case has(offered.Session.Resume):
			method = methodResume
		case offered.Load:
			method = methodLoad
		default:
			p.Session, d.resume = "", ""
			d.Notice("the agent cannot continue a conversation; it starts a new one")
		}
	}
	d.rpc.Call(method, p, func(m jsonrpc.Message) { d.opened(method, m) })
}

// has reports whether an agent offers a capability.
func has(capability json.RawMessage) bool {
	return len(capability) > 0 && string(capability) != "null" && string(capability) != "false"
}

// The methods to continue a conversation.
const (
	methodResume = "session/resume"
	methodLoad   = "session/load" // sends the whole past again
	methodFork   = "session/fork" // continues a copy
)

const methodOption = "session/set_config_option"

// session is the answer to a request for one.
type session struct {
	ID     string `json:"sessionId"`
	Models *struct {
		Current   string `json:"currentModelId"`
		Available []struct {
			ID   string `json:"modelId"`
			Name string `json:"name"`
		} `json:"availableModels"`
	} `json:"models"`
	Modes struct {
		Current string `json:"currentModeId"`
	} `json:"modes"`
	Options []option `json:"configOptions"`
}

type option struct {
	ID       string          `json:"id"`
	Category string          `json:"category"`
	Current  json.RawMessage `json:"currentValue"`
	Values   json.RawMessage `json:"options"`
}

// optionValue is a value of an option, or a group of values.
type optionValue struct {
	Value string        `json:"value"`
	Name  string        `json:"name"`
	Group []optionValue `json:"options"`
}

func flat(all []optionValue) (out []optionValue) {
	for _, v := range all {
		out = append(append(out, v), v.Group...)
	}
	return out
}

// named returns the agent's own name for a model: some agents extend the
// vendor's name.
func (s session) named(model string) string {
	var all []optionValue
	if _, id := s.model(); id != "" {
		i := slices.IndexFunc(s.Options, func(o option) bool { return o.ID == id })
		var values []optionValue
		_ = json.Unmarshal(s.Options[i].Values, &values) // values of another shape are ignored
		all = flat(values)
	} else if s.Models != nil {
		for _, m := range s.Models.Available {
			all = append(all, optionValue{Value: m.ID, Name: m.Name})
		}
	}
	found := ""
	for _, v := range all {
		switch {
		case v.Value == model:
			return model
		case v.Name == model && v.Value != "" && found == "":
			found = v.Value
		}
	}
	if found != "" {
		return found
	}
	return model
}

func (d *driver) opened(method string, m jsonrpc.Message) {
	if m.Error != nil && m.Error.Code == jsonrpc.CodeNoMethod && method == methodResume && d.agent.Capabilities.Load {
		// Some agents announce the newer method and have only the older one.
		d.agent.Capabilities.Session.Resume = nil
		d.open()
		return
	}
	if m.Error != nil && m.Error.Code == jsonrpc.CodeNoMethod && method == methodFork {
		d.agent.Capabilities.Session.Fork = nil
		d.open()
		return
	}
	if m.Error != nil {
		d.refused(m.Error)
		return
	}
	var s session
	if err := json.Unmarshal(m.Result, &s); err != nil && s.ID == "" && d.resume == "" {
		d.giveUp(agent.Fail(coppice.ClassCapability, "the session that the agent opened cannot be read: "+err.Error()))
		return
	}
	d.conversation = s.ID
	if d.resume != "" {
		d.conversation = d.resume
	}
	if d.conversation == "" {
		d.giveUp(agent.Fail(coppice.ClassCapability, "the agent opened a session without a name"))
		return
	}
	d.session = s
	if (method == methodLoad || method == methodFork) && s.Modes.Current != "" {
		// Some agents answer before they have sent all of the past. The answer
		// to a request that changes nothing comes after it.
		d.rpc.Call("session/set_mode", modeParams{Session: d.conversation, Mode: s.Modes.Current}, func(jsonrpc.Message) { d.loaded() })
		return
	}
	d.ready()
}

// ready chooses the model, when the session is open.
func (d *driver) ready() {
	wanted := d.model
	model, _ := d.session.model()
	if wanted != "" {
		model = wanted
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindInit, Conversation: d.conversation, Model: model, Version: d.agent.Info.Version})
	switch {
	case wanted == "":
		d.chooseEffort()
	case d.chooses():
		d.choose(wanted, d.chosen)
	default:
		d.Notice("the agent offers no choice of models; it uses its default")
		d.chooseEffort()
	}
}

// chooseEffort chooses how hard the agent thinks. The choices can depend on the
// model.
func (d *driver) chooseEffort() {
	option := ""
	for _, o := range d.session.Options {
		if o.Category == "thought_level" {
			option = o.ID
			break
		}
	}
	switch {
	case d.effort == "":
		d.sendPrompt()
	case option == "":
		d.Notice("the agent offers no choice of effort")
		d.sendPrompt()
	default:
		d.rpc.Call(methodOption, optionParams{Session: d.conversation, Option: option, Value: d.effort}, d.effortChosen)
	}
}

// effortChosen handles the answer to that choice.
func (d *driver) effortChosen(m jsonrpc.Message) {
	if m.Error != nil {
		d.giveUp(agent.Fail(coppice.ClassCapability, "the agent does not accept the effort "+coppice.Quote(d.effort)+": "+errorText(m.Error)))
		return
	}
	d.sendPrompt()
}

// chooses reports whether the agent offers a choice of models.
func (d *driver) chooses() bool {
	_, option := d.session.model()
	return option != "" || d.session.Models != nil
}

// choose requests a model, by the method that the agent offers.
func (d *driver) choose(model string, then func(jsonrpc.Message)) {
	model = d.session.named(model)
	if _, option := d.session.model(); option != "" {
		d.rpc.Call(methodOption, optionParams{Session: d.conversation, Option: option, Value: model}, then)
		return
	}
	d.rpc.Call("session/set_model", modelParams{Session: d.conversation, Model: model}, then)
}

// switched handles the answer to a change of the model during the run.
func (d *driver) switched(name string, m jsonrpc.Message) {
	if m.Error != nil {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindError, Class: coppice.ClassCapability, Model: name,
			Text: agent.Text("the agent does not accept the model " + coppice.Quote(name) + ": " + errorText(m.Error))})
		return
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "model", Model: name, Text: "the agent continues with " + name})
}

// model returns the model of the session, and the option that changes it, if
// the agent has one.
func (s session) model() (current, id string) {
	for _, o := range s.Options {
		if o.Category == "model" || (o.Category == "" && o.ID == "model") {
			_ = json.Unmarshal(o.Current, &current) // an option of another type has no model
			return current, o.ID
		}
	}
	if s.Models != nil {
		return s.Models.Current, ""
	}
	return "", ""
}

// refused handles a refusal to open a session. If the agent needs a login
// method, the driver sends it one time.
func (d *driver) refused(e *jsonrpc.Error) {
	if e.Code == jsonrpc.CodeAuth && !d.loggedIn && d.offers(d.auth) {
		d.loggedIn = true
		d.rpc.Call("authenticate", authParams{Method: d.auth}, d.authenticated)
		return
	}
	if e.Code == jsonrpc.CodeAuth {
		d.giveUp(d.notLoggedIn(e))
		return
	}
	if class := errorClass(e); d.resume+d.fork == "" || (class != coppice.ClassUnknown && e.Code != jsonrpc.CodeNotFound) {
		d.giveUp(agent.Fail(class, errorText(e)))
		return
	}
	d.giveUp(agent.Gone(errorText(e)))
}

func (d *driver) offers(method string) bool {
	for _, m := range d.agent.Auth {
		if m.ID == method {
			return true
		}
	}
	return false
}

// notLoggedIn returns the failure of a missing login, with the agent's own
// advice.
func (d *driver) notLoggedIn(e *jsonrpc.Error) *coppice.Failure {
	f := agent.Fail(coppice.ClassAuth, errorText(e))
	var ways []string
	for _, m := range d.agent.Auth {
		way := m.ID
		if says := m.Description; says != "" {
			way += " (" + says + ")"
		}
		ways = append(ways, way)
	}
	if len(ways) > 0 {
		f.Fix = agent.Text(f.Fix + "; the agent's login methods: " + strings.Join(ways, ", ") + "; driver.auth in its profile chooses one")
	}
	return f
}

func (d *driver) authenticated(m jsonrpc.Message) {
	if m.Error != nil {
		d.giveUp(agent.Fail(coppice.ClassAuth, errorText(m.Error)))
		return
	}
	d.open()
}

// chosen handles the answer to the choice of a model. Work for one model is not
// started with another.
func (d *driver) chosen(m jsonrpc.Message) {
	if m.Error != nil {
		d.giveUp(agent.Fail(coppice.ClassCapability, "the agent does not accept the model "+coppice.Quote(d.model)+": "+errorText(m.Error)))
		return
	}
	var now session
	if json.Unmarshal(m.Result, &now) == nil && now.Options != nil {
		d.session.Options = now.Options
	}
	d.chooseEffort()
}

// sendPrompt sends the prompt, when the session is ready.
func (d *driver) sendPrompt() {
	d.phase = resting
	if !d.Closed && len(d.queue) > 0 {
		d.prompt()
	}
}

// giveUp ends a run that cannot start.
func (d *driver) giveUp(f *coppice.Failure) {
	d.fatal = f
	d.Report(f)
	d.Emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: "failed", Text: f.Text})
	d.Become(coppice.SessionIdle)
	if !d.Closed {
		d.Finish()
	}
}
