package api

import (
	"time"

	"coppice"
)

// Agent is an agent CLI that Coppice knows, and its state on this machine.
type Agent struct {
	Name      string              `json:"name"`
	Own       bool                `json:"own,omitempty" doc:"The project's coppice.yaml describes or changes it"`
	Path      string              `json:"path,omitempty" doc:"Its program; absent if it is not installed"`
	Installed bool                `json:"installed,omitempty" doc:"Its program was found, so that forms offer it"`
	Version   string              `json:"version,omitempty" doc:"The version that it reports; absent if it is not installed, unknown if it reports none"`
	Tested    string              `json:"tested,omitempty" doc:"The version Coppice was tested with"`
	Unproven  bool                `json:"unproven,omitempty" doc:"No test has run its profile with the real CLI"`
	Install   string              `json:"install,omitempty" doc:"How to install it"`
	Problem   string              `json:"problem,omitempty" doc:"Why it does not work although it is installed"`
	Warnings  []string            `json:"warnings" doc:"What to fix before you rely on it"`
	Login     string              `json:"login,omitempty" doc:"yes, no or unknown; absent if it needs no login"`
	LoginBy   string              `json:"login_by,omitempty" doc:"The variable, file or command that shows it; never a value"`
	LoginEnv  []string            `json:"login_env,omitempty" doc:"Variables that log it in; one of them is enough"`
	Settings  string              `json:"settings,omitempty" doc:"Its settings file, if that names a provider: then it can work without a login"`
	Protocol  string              `json:"protocol,omitempty" doc:"The protocol by which Coppice talks to it"`
	Can       []string            `json:"can" doc:"What it can do: messages, resume, fork, model, permissions, tools, screen, images"`
	Scores    coppice.Scores      `json:"scores" doc:"How well it works, 1 to 10; absent if that is not known"`
	Models    map[string]string   `json:"models,omitempty" doc:"The model for each kind of work"`
	Suggest   []string            `json:"suggest" doc:"Models to offer: those of its profile, then those that its sessions used"`
	Choices   []string            `json:"choices" doc:"What a field for its model offers: auto, then those of suggest"`
	Efforts   []string            `json:"efforts" doc:"The levels of effort that it knows, the lowest first"`
	State     string              `json:"state" enum:"ready,limited,logged out,broken,not installed" doc:"Whether a task can use it now"`
	Source    string              `json:"source,omitempty" doc:"The source of the facts that were not tested"`
	Limit     *coppice.AgentLimit `json:"limit,omitempty" doc:"Why it cannot be used now, and until when"`
	Waiting   []string            `json:"waiting,omitempty" doc:"Keys of the tasks that wait for the limit to end"`

	Tasks AgentTasks `json:"tasks" doc:"How many tasks it has"`
	Shown bool       `json:"shown,omitempty" doc:"It is installed, limited, or has tasks"`

	ModelLimits []Limit `json:"model_limits,omitempty" doc:"Limits of its single models that agent.fallback names as agent:model"`
}

// AgentTasks counts the tasks of an agent.
type AgentTasks struct {
	All     int `json:"all"`
	Running int `json:"running" doc:"With a session"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
}

// AgentList is every agent: those that are shown first, then the ones with most
// tasks, then by name.
type AgentList struct {
	Agents  []Agent   `json:"agents"`
	Choices []string  `json:"choices" doc:"What a field for a model offers while no agent is known: auto"`
	At      time.Time `json:"at" doc:"When they were last checked; the limits are current"`
}
