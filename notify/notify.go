// Package notify is the contract with the receivers of notifications: the desktop, chat
// services, mail, webhooks and programs. Implementations are in the directories below
// it.
package notify

import (
	"context"
	"time"

	"coppice"
)

// Message is one notification, ready to be sent: its secrets are masked.
type Message struct {
	ID       string // stays the same if the message is sent again
	Priority coppice.Priority
	Title    string // one line
	Text     string // several lines, without markup
	Link     string // the page that it is about; empty if people cannot reach it
	Answer   string // the page that answers the question in the text; empty if there is none
	Project  string
	Count    int // number of things that it is about
	At       time.Time
	Test     bool
}

// Target is a notifier of the user's configuration, with the values of its secrets.
type Target struct {
	coppice.Notifier
	Name  string
	Token string // the value of the secret that Notifier.Token names
}

// Sender sends messages to one kind of receiver. Its methods are safe for concurrent use
// and return promptly when ctx ends.
//
// Send succeeds when the receiver has accepted the message. It fails with a
// *coppice.Failure that says what a person can do: ClassAuth for a refused login,
// ClassRateLimit with RetryAt, ClassCapability for what never works here, such as a
// desktop without a notification service, ClassEnvironment for everything that might
// pass. No error and no text has the value of a secret.
type Sender interface {
	// Check validates a target without sending anything. The error is about a field of
	// the notifier.
	Check(t Target) error
	Send(ctx context.Context, t Target, m Message) error
}
