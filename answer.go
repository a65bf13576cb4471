package coppice

import "encoding/json"

// Bounds of an answer and of its schema, in bytes.
const (
	MaxAnswer = 256 << 10
	MaxSchema = 64 << 10
)

// Answer is what a session that answers ended with: text, or a JSON value where
// its task has a schema.
type Answer struct {
	Text    string          `json:"text,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`   // where the task has a schema; it matches
	Problem string          `json:"problem,omitempty"` // why this is not an answer; empty when it is
}
