package codex

import (
	"encoding/json"
	"strings"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// The parameters of the driver's requests.
type (
	initializeParams struct {
		Client       clientInfo   `json:"clientInfo"`
		Capabilities capabilities `json:"capabilities"`
	}
	clientInfo struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	}
	capabilities struct {
		Without []string `json:"optOutNotificationMethods"`
	}
	threadParams struct {
		Thread   string         `json:"threadId,omitempty"`
		Dir      string         `json:"cwd,omitempty"`
		Model    string         `json:"model,omitempty"`
		Approval string         `json:"approvalPolicy"`
		Reviewer string         `json:"approvalsReviewer"`
		Sandbox  string         `json:"sandbox"`
		Config   map[string]any `json:"config,omitempty"`
		// Brief leaves the past out of the answer.
		Brief bool `json:"excludeTurns,omitempty"`
	}
)

func (d *driver) initialized(p jsonrpc.Message) {
	if p.Error != nil {
		d.giveUp(errorFailure(p.Error))
		return
	}
	var r struct {
		Agent string `json:"userAgent"` // coppice/0.166.0 (…)
	}
	if err := json.Unmarshal(p.Result, &r); err != nil {
		d.giveUp(agent.Fail(coppice.ClassCapability, "the agent's answer to initialize cannot be read: "+err.Error()))
		return
	}
	if _, after, ok := strings.Cut(r.Agent, "/"); ok {
		v, _, _ := strings.Cut(after, " ")
		d.version = agent.Clip(v)
	}
	d.rpc.Notify("initialized", nil)
	d.open()
}

// open requests a thread. The agent must ask for permission only if the answer
// could be anything other than yes: "untrusted" means everything that it does.
// The reviewer is named so that no configuration answers instead of the driver.
func (d *driver) open() {
	p := threadParams{Dir: d.request.Dir, Model: d.request.Model, Approval: "never", Reviewer: "user", Sandbox: d.sandbox, Config: d.config()}
	if d.Asker.Restricts() {
		p.Approval = "untrusted"
	}
	method := "thread/start"
	if d.request.Resume != "" {
		p.Thread, p.Brief, method = d.request.Resume, true, "thread/resume"
		if d.request.Fork {
			method = "thread/fork"
		}
	}
	d.rpc.Call(method, p, d.opened)
}

// config overrides the person's own configuration.
func (d *driver) config() map[string]any {
	config := map[string]any{}
	servers, _, err := toolServers(d.profile, d.request)
	if err != nil {
		// Launch refuses such a request. A driver cannot.
		d.Notice(err.Error())
	}
	for name, s := range servers {
		config["mcp_servers."+name] = s
	}
	if len(d.request.Secrets) > 0 {
		config[snapshotKey] = false
	}
	// The model's service searches without asking.
	if !d.Asker.Decide(agent.Call{Name: typeSearch, Kind: coppice.ToolFetch, Dir: d.request.Dir}).Allowed() {
		config["web_search"] = "disabled"
	}
	return config
}

func (d *driver) opened(p jsonrpc.Message) {
	if p.Error != nil {
		d.giveUp(errorFailure(p.Error))
		return
	}
	var r struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
		Model string `json:"model"`
	}
	if err := json.Unmarshal(p.Result, &r); err != nil || r.Thread.ID == "" {
		d.giveUp(agent.Fail(coppice.ClassCapability, "the thread that the agent opened cannot be read"))
		return
	}
	d.conversation = r.Thread.ID
	if d.request.Resume != "" && d.request.Spent != (coppice.Usage{}) {
		d.totals[d.conversation] = d.request.Spent
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindInit, Conversation: d.conversation, Model: agent.Clip(r.Model), Version: d.version})
	d.phase = resting
	d.proceed()
}

// giveUp ends a run that cannot start.
func (d *driver) giveUp(f *coppice.Failure) {
	d.fatal = f
	d.Report(f)
	d.Become(coppice.SessionIdle)
	if !d.Closed {
		d.Finish()
	}
}
