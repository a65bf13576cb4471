package coppice

import (
	"encoding/json"
	"strings"
	"time"
)

// ActorKind is a kind of author of requests.
type ActorKind string

// The kinds of author.
const (
	ActorPerson  ActorKind = "person"  // a person with the server's token, by login name
	ActorFile    ActorKind = "file"    // the features file, by its name
	ActorSession ActorKind = "session" // the agent of a session, by the session's key
	ActorEngine  ActorKind = "engine"  // Coppice itself, by the name of the part
	ActorForge   ActorKind = "forge"   // a signed webhook of a forge, by the forge's name
)

// Actor is the author of a request. Its text is the kind, or kind:name.
type Actor struct {
	Kind ActorKind
	Name string
}

// String returns the author as events name it.
func (a Actor) String() string {
	if a.Name == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.Name
}

// MarshalText implements encoding.TextMarshaler.
func (a Actor) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Actor) UnmarshalText(text []byte) error {
	*a = ParseActor(string(text))
	return nil
}

// ParseActor reads an author from its text.
func ParseActor(text string) Actor {
	kind, name, _ := strings.Cut(text, ":")
	return Actor{ActorKind(kind), name}
}

// Verb is a request that a subject can get. Package verb describes each.
type Verb string

// The verbs.
const (
	VerbStop     Verb = "stop"     // stop the running session, and end the task
	VerbRetry    Verb = "retry"    // restart an ended or stuck task
	VerbRequeue  Verb = "requeue"  // stop the running session, and restart the task
	VerbLand     Verb = "land"     // land a proven task
	VerbContinue Verb = "continue" // continue an ended task in its conversation
	VerbTake     Verb = "take"     // continue on the agent's own screen
	VerbGive     Verb = "give"     // hand it back to the agent
	VerbUndo     Verb = "undo"     // restore a removed workspace
	VerbDone     Verb = "done"     // end a task whose session changed nothing, as done

	VerbSkipCheck Verb = "skip-check" // leave checks out that the base fails as well
	VerbUnstop    Verb = "unstop"     // continue a stopped task as it was

	VerbOpenPull Verb = "open-pull"        // put its work into a pull request
	VerbComments Verb = "resolve-comments" // send the open comments on its pull request to the agent

	VerbUnskipCheck Verb = "unskip-check" // put checks back that were left out
	VerbRevert      Verb = "revert"       // take its landing off the branch

	VerbDropBranches Verb = "drop-branches" // remove the branches that agents created besides its own

	// Requests to flows.
	VerbPause  Verb = "pause"   // start no further step
	VerbResume Verb = "resume"  // continue a flow, from a step if one is named
	VerbWrapUp Verb = "wrap-up" // end a flow with what is proven

	// Requests of a session to its flow.
	VerbSpawn      Verb = "spawn"       // start a worker
	VerbGoalDone   Verb = "goal-done"   // the goal is reached
	VerbGoalFailed Verb = "goal-failed" // the goal cannot be reached

	// Requests between parts of the engine.
	VerbWithdraw Verb = "withdraw" // to a queue: remove a landing
	VerbMoved    Verb = "moved"    // to a queue: its branch moved in a way that a person must check
	VerbStrike   Verb = "strike"   // to a project: the environment failed in a track
	VerbWorked   Verb = "worked"   // to a project: a session of a track worked
	VerbLimit    Verb = "limit"    // to an account: it reached a limit
	VerbWarn     Verb = "warn"     // to a task: show a warning
	VerbReport   Verb = "report"   // to a task: what its forge reports about its pull request
	VerbRead     Verb = "read"     // to a forge or a tracker: read it now
	VerbIssue    Verb = "issue"    // to a task: what its tracker reports about its issue
	VerbAccept   Verb = "accept"   // to a tracker: take the text of an issue that somebody changed
)

// Ask is a stored request to a subject. It is open until a decider has acted on
// it, or another request has withdrawn it.
type Ask struct {
	ID        int64           `json:"id"`
	Subject   Subject         `json:"-"`
	ProjectID int64           `json:"project_id"`
	Verb      Verb            `json:"verb"`
	Text      string          `json:"text,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	By        Actor           `json:"by"`
	At        time.Time       `json:"at"`
	SettledAt time.Time       `json:"settled_at,omitzero"`
	Outcome   string          `json:"outcome,omitempty"` // the result, in one line
}

// Open reports whether nobody has acted on the request yet.
func (a Ask) Open() bool { return a.SettledAt.IsZero() }

// Asked returns the oldest open request with one of the verbs, or nil.
func Asked(asks []Ask, verbs ...Verb) *Ask {
	for i := range asks {
		for _, v := range verbs {
			if asks[i].Verb == v && asks[i].Open() {
				return &asks[i]
			}
		}
	}
	return nil
}

// Staff names the agent of a task from now on, its model, and how hard it
// thinks. An empty field stays as it is.
type Staff struct {
	Agent  string `json:"agent,omitempty"`
	Model  string `json:"model,omitempty"`
	Effort string `json:"effort,omitempty"`
}
