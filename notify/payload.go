package notify

import (
	"time"

	"coppice"
)

// The limits of the texts of a payload.
var (
	payloadTitle = Limit{Most: 1 << 10, Unit: Bytes}
	payloadText  = Limit{Most: 16 << 10, Unit: Bytes}
)

// Payload is what webhooks and programs get. docs/notifications.md describes it.
type Payload struct {
	Type      string      `json:"type"`      // coppice.notification
	Timestamp time.Time   `json:"timestamp"` // when the message was written
	Data      PayloadData `json:"data"`
}

// PayloadData is the message of a Payload.
type PayloadData struct {
	ID       string           `json:"id"` // stays the same if the message is sent again
	Notifier string           `json:"notifier"`
	Priority coppice.Priority `json:"priority"`
	Title    string           `json:"title"`
	Text     string           `json:"text"`
	Link     string           `json:"link,omitempty"`
	Answer   string           `json:"answer,omitempty"` // opens the page that answers the question
	Project  string           `json:"project,omitempty"`
	Count    int              `json:"count"`
	Test     bool             `json:"test,omitempty"`
}

// PayloadOf returns the payload for a message. A repetition has the same one.
func PayloadOf(t Target, m Message) Payload {
	return Payload{"coppice.notification", m.At.UTC(), PayloadData{
		ID: m.ID, Notifier: t.Name, Priority: m.Priority, Title: payloadTitle.Fit(m.Title, nil), Text: payloadText.Fit(m.Text, nil),
		Link: m.Link, Answer: m.Answer, Project: m.Project, Count: m.Count, Test: m.Test,
	}}
}
