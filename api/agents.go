package api

import (
	"time"

	"coppice"
)

// Agent is an agent CLI that Coppice knows, and how it stands on this machine.
type Agent struct {
	Name     string              `json:"name"`
	Own      bool                `json:"own,omitempty" doc:"The project's coppice.yaml describes or changes it"`
	Path     string              `json:"path,omitempty" doc:"Its program; absent when it is not installed"`
	Version  string              `json:"version,omitempty" doc:"As it says itself; absent when it is not installed, unknown when it does not tell"`
	Tested   string              `json:"tested,omitempty" doc:"The version Coppice was tested with"`
	Install  string              `json:"install,omitempty" doc:"How to get it"`
	Problem  string              `json:"problem,omitempty" doc:"Why it does not work although it is there"`
	Warnings []string            `json:"warnings" doc:"What is to be seen to before it is relied on"`
	Login    string              `json:"login,omitempty" doc:"yes, no or unknown; absent when it needs none"`
	LoginBy  string              `json:"login_by,omitempty" doc:"The variable, file or command that told; never a value"`
	LoginEnv []string            `json:"login_env,omitempty" doc:"Variables any of which would do"`
	Protocol string              `json:"protocol,omitempty" doc:"How Coppice talks to it"`
	Can      []string            `json:"can" doc:"What can be done with it: messages, resume, fork, model, permissions, tools, screen"`
	Scores   coppice.Scores      `json:"scores" doc:"How well it does, 0 to 10, as far as is known"`
	Models   map[string]string   `json:"models,omitempty" doc:"The model for each kind of work"`
	Source   string              `json:"source,omitempty" doc:"Where facts come from that were not tested"`
	Limit    *coppice.AgentLimit `json:"limit,omitempty" doc:"Why nobody can use it now, and until when"`
	Waiting  []string            `json:"waiting,omitempty" doc:"Keys of the tasks that wait for the limit to end"`

	ModelLimits []Limit `json:"model_limits,omitempty" doc:"Limits of single models of it that agent.fallback names as agent:model"`
}

// AgentList is every agent, by name.
type AgentList struct {
	Agents []Agent   `json:"agents"`
	At     time.Time `json:"at" doc:"When they were looked for; limits are those of now"`
}
