package store

import "encoding/json"

// CallReader reads the answers of calls.
type CallReader interface {
	// Answer returns the answer to a call of a session, or nil if there is none.
	Answer(session int64, id string) (json.RawMessage, error)
}

// Calls reads and writes the answers of calls of tools that changed facts. They
// are removed when their session ends.
type Calls interface {
	CallReader
	// Put stores the answer to a call, which must not have one.
	Put(session int64, id string, answer json.RawMessage) error
}
