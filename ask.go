package coppice

import (
	"encoding/json"
	"strings"
	"time"
)

// ActorKind says what kind of author a request has.
type ActorKind string

// The kinds of author.
const (
	ActorPerson ActorKind = "person" // somebody with the server's token, by login name
	ActorFile   ActorKind = "file"   // the features file, by its name
	ActorEngine ActorKind = "engine" // Coppice itself, by the part of it
)

// Actor is the author of a request. Its text is the kind, or kind:name.
type Actor struct {
	Kind ActorKind
	Name string
}

// String is the author as events name it.
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

// Verb is something that can be asked of a subject. Package verb describes each.
type Verb string

// The verbs.
const (
	VerbStop     Verb = "stop"     // end what runs, and the task
	VerbRetry    Verb = "retry"    // begin an ended or stuck task again
	VerbRequeue  Verb = "requeue"  // end what runs, and begin again
	VerbLand     Verb = "land"     // land what is proven
	VerbContinue Verb = "continue" // go on with an ended task, in its conversation
	VerbTake     Verb = "take"     // go on on the agent's own screen
	VerbGive     Verb = "give"     // and back
	VerbUndo     Verb = "undo"     // bring a removed workspace back

	// What the engine's own parts ask of each other.
	VerbWithdraw Verb = "withdraw" // of a queue: take a landing out
	VerbMoved    Verb = "moved"    // of a queue: its branch moved in a way that a person must look at
	VerbStrike   Verb = "strike"   // of a project: the environment failed in a track
	VerbWorked   Verb = "worked"   // of a project: a session worked in a track
	VerbLimit    Verb = "limit"    // of an account: it met a limit
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
	Outcome   string          `json:"outcome,omitempty"` // what came of it, in a line
}

// Open tells whether nobody has acted on the request yet.
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

// Staff is who does a task from now on; what is empty stays as it is.
type Staff struct {
	Agent string `json:"agent,omitempty"`
	Model string `json:"model,omitempty"`
}
