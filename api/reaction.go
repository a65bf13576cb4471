package api

import "coppice"

// Reacted is an event, and what followed.
type Reacted struct {
	coppice.Reacted
	Waits bool `json:"waits,omitempty" doc:"An agent has the message, and nothing has followed yet"`
}

// ReactionEntry is an entry of the history of reactions.
type ReactionEntry struct {
	Reacted
	Project string `json:"project" doc:"The prefix of the project"`
	Of      string `json:"of,omitempty" doc:"The key of the task whose event it is; absent for an event of the whole project"`
	Title   string `json:"title,omitempty" doc:"The title of that task"`
}

// ReactionPage is one page of the history of reactions, newest first.
type ReactionPage struct {
	Reactions []ReactionEntry `json:"reactions"`
	Page
}

// ReactionRules has the rules of a project, in the order of the events.
type ReactionRules struct {
	Project string       `json:"project"`
	Trust   string       `json:"trust" doc:"Whether texts from outside can reach agents: sandboxed or unsandboxed"`
	Events  []EventRules `json:"events"`
}

// EventRules are the rules of one event. The first one whose condition holds
// applies.
type EventRules struct {
	Event coppice.ReactionEvent `json:"event"`
	About string                `json:"about" doc:"When the event happens"`
	Own   bool                  `json:"own,omitempty" doc:"coppice.yaml has rules for it; otherwise these are the defaults"`
	Rules []coppice.Reaction    `json:"rules"`
	Why   string                `json:"why,omitempty" doc:"Why a rule of it does nothing, for example because the project does not trust texts from outside"`
}
