// Package reaction has the rules of reactions: the table of events, the conditions
// and messages of rules, and the choice of the rule that applies. It does no I/O. The
// engine finds out what happened, limits how often a rule acts, and acts.
package reaction

import (
	"cmp"
	"slices"
	"time"

	"coppice"
)

// Event describes something that a reaction can follow.
type Event struct {
	Name    coppice.ReactionEvent `json:"name"`
	Help    string                `json:"help"`
	Pull    bool                  `json:"pull,omitempty"`    // it belongs to a pull request
	Outside bool                  `json:"outside,omitempty"` // its text comes from outside: an agent gets it only where the project trusts that
	Text    string                `json:"text,omitempty"`    // the name of its text in messages: errors, comments or text; empty if it has none
	Fields  []Field               `json:"fields"`            // what conditions can use
	Actions []string              `json:"actions"`           // what its rules can do
	Rules   []coppice.Reaction    `json:"rules"`             // of a project that has none for it

	Priority  coppice.Priority `json:"priority"`            // of a rule that has none
	Threshold coppice.Duration `json:"threshold,omitempty"` // of a rule that has none
	Retries   int              `json:"retries,omitempty"`   // of a rule that has none; 0 means defaultRetries

	Message string `json:"message"` // the template for an agent
	Notice  string `json:"notice"`  // the template for a person
}

// Facts are what Coppice knows about one event.
type Facts struct {
	Event coppice.ReactionEvent
	Key   string // names the event: the same event has the same key

	Task     string // the key of the task; empty for an event of the whole project
	Title    string // of the task
	Category string
	Labels   []string // of the task

	Number int // of the pull request
	URL    string
	Branch string
	Base   string
	Head   string
	Draft  bool

	Author string   // who wrote the comment or review, or otherwise who opened the pull request
	Bot    bool     // the author is a bot
	Team   []string // the logins whose comments and reviews count
	Label  string   // that was added
	Text   string   // the errors, comments, question or reason
	Checks []string // the checks of CI that failed

	Age time.Duration // how long the event has lasted
}

// The sets of actions of events.
var (
	// An event after which no agent of the task exists has no send-to-agent.
	afterAgent = []string{coppice.ReactTask, coppice.ReactNotify, coppice.ReactRun, coppice.ReactNothing}
	withAgent  = append([]string{coppice.ReactSend}, afterAgent...)
	canMerge   = append([]string{coppice.ReactSend, coppice.ReactMerge}, afterAgent...)
)

// How often a rule that says nothing about it acts for one request. Each review is a
// person's decision, so a rule for what people write acts more often.
const (
	defaultRetries = 2
	byPeople       = 10
)

// Events lists the events, those of pull requests first.
var Events = []Event{
	{
		Name: coppice.OnCIFailed, Help: "A check of CI failed for the head of the pull request.",
		Pull: true, Outside: true, Text: "errors", Fields: fieldsOf(pullFields, "text", "checks"), Actions: withAgent, Priority: coppice.PriorityAction,
		Rules:   []coppice.Reaction{{Do: coppice.ReactSend, Retries: 2}},
		Message: "CI failed for the pull request of {{task}}, at commit {{head}}. Find the cause and fix it. Run the checks that you can run here, and commit. Coppice pushes your commits.\n\nWhat CI reports:\n{{errors}}",
		Notice:  "CI failed for {{task}} ({{title}}): {{url}}\n\n{{errors}}",
	},
	{
		Name: coppice.OnChanges, Help: "A reviewer requested changes.",
		Pull: true, Outside: true, Text: "comments", Fields: fieldsOf(pullFields, "text"), Actions: withAgent, Priority: coppice.PriorityAction, Retries: byPeople,
		Rules:   []coppice.Reaction{{Do: coppice.ReactSend, EscalateAfter: minutes(30)}},
		Message: "A reviewer requested changes to the pull request of {{task}}. Change the code where a comment is right, and commit. Where it is wrong, say why in your final message. Coppice pushes your commits.\n\nThe review by {{author}}:\n{{comments}}",
		Notice:  "{{author}} requested changes to {{task}} ({{title}}): {{url}}\n\n{{comments}}",
	},
	{
		Name: coppice.OnComment, Help: "A person whose comments count wrote a comment.",
		Pull: true, Outside: true, Text: "comments", Fields: fieldsOf(pullFields, "text"), Actions: canMerge, Priority: coppice.PriorityInfo, Retries: byPeople,
		Rules:   []coppice.Reaction{{Do: coppice.ReactNothing}},
		Message: "There is a new comment on the pull request of {{task}}. Change the code if the comment asks for it and is right, and commit. Coppice pushes your commits.\n\nThe comment by {{author}}:\n{{comments}}",
		Notice:  "{{author}} commented on {{task}} ({{title}}): {{url}}\n\n{{comments}}",
	},
	{
		Name: coppice.OnBotComment, Help: "A bot wrote a comment or a review.",
		Pull: true, Outside: true, Text: "comments", Fields: fieldsOf(pullFields, "text"), Actions: withAgent, Priority: coppice.PriorityAction,
		Rules:   []coppice.Reaction{{Do: coppice.ReactSend, EscalateAfter: minutes(30)}},
		Message: "A bot commented on the pull request of {{task}}. Check each finding, fix those that are right, and commit. Coppice pushes your commits.\n\nThe comments by {{author}}:\n{{comments}}",
		Notice:  "The bot {{author}} commented on {{task}} ({{title}}): {{url}}\n\n{{comments}}",
	},
	{
		Name: coppice.OnConflicts, Help: "The pull request does not merge with its base.",
		Pull: true, Fields: fieldsOf(pullFields), Actions: withAgent, Priority: coppice.PriorityAction,
		Rules:   []coppice.Reaction{{Do: coppice.ReactSend, EscalateAfter: minutes(15)}},
		Message: "The pull request of {{task}} has conflicts with its base {{base}}. Merge {{base}} into your branch, resolve the conflicts, run the checks, and commit. Coppice pushes your commits.",
		Notice:  "The pull request of {{task}} ({{title}}) has conflicts with {{base}}: {{url}}",
	},
	{
		Name: coppice.OnApprovedGreen, Help: "The pull request is approved, CI passed, and it has no conflicts.",
		Pull: true, Fields: fieldsOf(pullFields), Actions: canMerge, Priority: coppice.PriorityAction,
		Rules:   []coppice.Reaction{{Do: coppice.ReactNotify, Priority: coppice.PriorityAction}},
		Message: "The pull request of {{task}} is approved, and CI passed.",
		Notice:  "The pull request of {{task}} ({{title}}) is approved, and CI passed. You can merge it: {{url}}",
	},
	{
		Name: coppice.OnMerged, Help: "The pull request was merged.",
		Pull: true, Fields: fieldsOf(pullFields), Actions: afterAgent, Priority: coppice.PriorityInfo,
		Rules:   []coppice.Reaction{{Do: coppice.ReactNotify, Priority: coppice.PriorityInfo}},
		Message: "The pull request {{url}} of the task {{task}} ({{title}}) was merged into {{base}}.",
		Notice:  "The pull request of {{task}} ({{title}}) was merged into {{base}}: {{url}}",
	},
	{
		Name: coppice.OnClosed, Help: "The pull request was closed without being merged.",
		Pull: true, Fields: fieldsOf(pullFields), Actions: afterAgent, Priority: coppice.PriorityAction,
		Rules:   []coppice.Reaction{{Do: coppice.ReactNotify, Priority: coppice.PriorityAction}},
		Message: "The pull request {{url}} of the task {{task}} ({{title}}) was closed without being merged.",
		Notice:  "The pull request of {{task}} ({{title}}) was closed without being merged: {{url}}",
	},
	{
		Name: coppice.OnLabel, Help: "A label was added to the pull request. Each label is one event.",
		Pull: true, Outside: true, Fields: fieldsOf(pullFields, "label"), Actions: canMerge, Priority: coppice.PriorityInfo,
		Rules:   []coppice.Reaction{{Do: coppice.ReactNothing}},
		Message: "The pull request of {{task}} has a new label: {{label}}",
		Notice:  "The pull request of {{task}} ({{title}}) has a new label: {{label}}\n{{url}}",
	},
	{
		Name: coppice.OnIdle, Help: "An agent waits for a message, and its task is not done.",
		Fields: fieldsOf(taskFields), Actions: withAgent, Priority: coppice.PriorityUrgent, Threshold: minutes(10),
		Rules:   []coppice.Reaction{{Do: coppice.ReactNotify, Priority: coppice.PriorityUrgent, Threshold: minutes(10)}},
		Message: "You stopped before the task was done. Continue. If you cannot, say why in your final message.",
		Notice:  "The agent of {{task}} ({{title}}) is idle.",
	},
	{
		Name: coppice.OnStuck, Help: "An agent is running, and it prints nothing.",
		Fields: fieldsOf(taskFields), Actions: withAgent, Priority: coppice.PriorityUrgent, Threshold: minutes(10),
		Rules:   []coppice.Reaction{{Do: coppice.ReactNotify, Priority: coppice.PriorityUrgent, Threshold: minutes(10)}},
		Message: "You have printed nothing for a long time. If a command hangs, stop it and try another approach.",
		Notice:  "The agent of {{task}} ({{title}}) is stuck.",
	},
	{
		Name: coppice.OnNeedsInput, Help: "An agent asked a question, or for a permission.",
		Text: "text", Fields: fieldsOf(taskFields, "text"), Actions: withAgent, Priority: coppice.PriorityUrgent,
		Rules:   []coppice.Reaction{{Do: coppice.ReactNotify, Priority: coppice.PriorityUrgent}},
		Message: "Nobody can answer your question now. Decide yourself, and say in your final message what you decided and why.",
		Notice:  "The agent of {{task}} ({{title}}) asks: {{text}}",
	},
	{
		Name: coppice.OnExited, Help: "An agent exited before its session was done.",
		Text: "errors", Fields: fieldsOf(taskFields, "text"), Actions: withAgent, Priority: coppice.PriorityUrgent,
		Rules:   []coppice.Reaction{{Do: coppice.ReactNotify, Priority: coppice.PriorityUrgent}},
		Message: "Your session ended before the task was done. Continue where you stopped. What Coppice knows about the end:\n{{errors}}",
		Notice:  "The agent of {{task}} ({{title}}) exited: {{errors}}",
	},
	{
		Name: coppice.OnTaskFailed, Help: "A task failed.",
		Text: "errors", Fields: fieldsOf(taskFields, "text"), Actions: withAgent, Priority: coppice.PriorityUrgent,
		Rules:   []coppice.Reaction{{Do: coppice.ReactNotify, Priority: coppice.PriorityUrgent}},
		Message: "The task {{task}} ({{title}}) failed. Find the cause and fix it. What Coppice knows about it:\n{{errors}}",
		Notice:  "{{task}} ({{title}}) failed: {{errors}}",
	},
	{
		Name: coppice.OnAllComplete, Help: "All tasks of the project have ended.",
		Fields: fieldsOf(projectFields), Actions: afterAgent, Priority: coppice.PriorityInfo,
		Rules:   []coppice.Reaction{{Do: coppice.ReactNotify, Priority: coppice.PriorityInfo}},
		Message: "All tasks of the project have ended.",
		Notice:  "All tasks of the project have ended.",
	},
}

func minutes(n int) coppice.Duration { return coppice.Duration(time.Duration(n) * time.Minute) }

// Find returns the event with that name, and whether it exists.
func Find(name coppice.ReactionEvent) (Event, bool) {
	for _, e := range Events {
		if e.Name == name {
			return e, true
		}
	}
	return Event{}, false
}

// Names returns the names of the events.
func Names() []string {
	names := make([]string, len(Events))
	for i, e := range Events {
		names[i] = string(e.Name)
	}
	return names
}

// RulesOf returns the rules of an event: those of the policy if it names the event,
// otherwise the defaults. Rules without a priority, a threshold or retries have those
// of the event. Only rules that act on an agent have retries.
func RulesOf(name coppice.ReactionEvent, all coppice.Reactions) []coppice.Reaction {
	e, known := Find(name)
	if !known {
		return nil
	}
	rules, own := all[name]
	if !own {
		rules = e.Rules
	}
	rules = slices.Clone(rules)
	for i := range rules {
		if rules[i].Priority == "" {
			rules[i].Priority = e.Priority
		}
		if rules[i].Threshold == 0 {
			rules[i].Threshold = e.Threshold
		}
		if rules[i].Retries == 0 && toAgent(rules[i]) {
			rules[i].Retries = cmp.Or(e.Retries, defaultRetries)
		}
	}
	return rules
}

// Select returns the first rule of an event whose condition holds, with its number
// from 0. It reports false if none does. It fails if a condition before that cannot
// be evaluated.
func Select(name coppice.ReactionEvent, all coppice.Reactions, f Facts) (coppice.Reaction, int, bool, error) {
	for i, rule := range RulesOf(name, all) {
		c, err := Compile(name, rule.If)
		if err != nil {
			return coppice.Reaction{}, i, false, err
		}
		holds, err := c.Match(f)
		if err != nil {
			return coppice.Reaction{}, i, false, err
		}
		if holds {
			return rule, i, true, nil
		}
	}
	return coppice.Reaction{}, 0, false, nil
}
