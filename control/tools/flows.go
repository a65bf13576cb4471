package tools

import (
	"coppice"
	"coppice/engine"
	"coppice/store"
)

// flowTools start flows below the session's task.
var flowTools = []tool{
	changing("start_cycle", "Start a flow for a larger piece of work: it writes a plan, and then repeats review and implementation until the plan is done. Use wait_for_tasks with its key to get the result.", startCycle).only(works),
	changing("start_debate", "Start a flow in which two agents debate a question until they agree. Use wait_for_tasks with its key to get the result.", startDebate).only(works),
}

type startCycleIn struct {
	Task        string `json:"task" jsonschema:"everything that the flow needs to know"`
	Title       string `json:"title,omitempty"`
	Implementer string `json:"implementer,omitempty" jsonschema:"the agent that implements, as agent or agent:model"`
	Reviewer    string `json:"reviewer,omitempty" jsonschema:"the agent that reviews, as agent or agent:model"`
	Cycles      int    `json:"cycles,omitempty" jsonschema:"the most cycles, from 1 to 50; 10 if absent"`
	Verify      string `json:"verify,omitempty" jsonschema:"how to start or try the result"`
	budgetIn
}

func startCycle(c *call, i *engine.Intake, tx store.Tx, in startCycleIn) (Created, error) {
	spec := map[string]any{}
	put(spec, "implementer", in.Implementer)
	put(spec, "reviewer", in.Reviewer)
	put(spec, "cycles", in.Cycles)
	put(spec, "verify", c.cfg.Redact(in.Verify))
	return startFlow(c, i, tx, coppice.FlowCycle, in.Title, in.Task, in.Budget, spec)
}

type startDebateIn struct {
	Question string   `json:"question"`
	Title    string   `json:"title,omitempty"`
	Between  []string `json:"between,omitempty" jsonschema:"the two agents, each as agent or agent:model; the two best if absent"`
	Rounds   int      `json:"rounds,omitempty" jsonschema:"the most rounds, from 1 to 10; 3 if absent"`
	Action   string   `json:"action,omitempty" jsonschema:"what one side does afterwards; its work lands on the same branch as yours"`
	Verify   bool     `json:"verify,omitempty" jsonschema:"the other side verifies the action"`
	budgetIn
}

func startDebate(c *call, i *engine.Intake, tx store.Tx, in startDebateIn) (Created, error) {
	spec := map[string]any{}
	if len(in.Between) > 0 {
		spec["between"] = in.Between
	}
	put(spec, "rounds", in.Rounds)
	put(spec, "action", c.cfg.Redact(in.Action))
	put(spec, "verify", in.Verify)
	return startFlow(c, i, tx, coppice.FlowDebate, in.Title, in.Question, in.Budget, spec)
}

// put adds a value to a spec unless it is absent.
func put[T comparable](spec map[string]any, name string, v T) {
	if v != *new(T) {
		spec[name] = v
	}
}

// startFlow creates a flow below the session's task.
func startFlow(c *call, i *engine.Intake, tx store.Tx, kind coppice.FlowKind, title, body string, budget float64, spec map[string]any) (Created, error) {
	return create(c, i, tx, coppice.NewTask{
		Title: c.cfg.Redact(title), Body: c.cfg.Redact(body), Budget: coppice.USD(budget), Flow: &coppice.NewFlow{Kind: kind, Spec: coppice.Raw(spec)},
	})
}
