package coppice

import "encoding/json"

// Bounds of an answer and of its schema, in bytes.
const (
	MaxAnswer = 256 << 10
	MaxSchema = 64 << 10
)

// Answer is the result of a session that answers: a text, or a JSON value if its
// task has a schema.
type Answer struct {
	Text    string          `json:"text,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`   // if the task has a schema; valid against it
	Problem string          `json:"problem,omitempty"` // why this is not an answer; empty if it is
}
