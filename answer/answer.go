// Package answer reads the final messages of sessions that answer, and validates
// them against the schema of their task. The package does no I/O.
package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"coppice"
)

// CheckSchema says what is wrong with a schema for answers. An empty schema is
// valid: then the answer is a text.
func CheckSchema(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	_, err := resolve(raw)
	if err != nil {
		return coppice.Errorf(coppice.EInvalid, "the schema of the answer cannot be used: %v", err).
			WithFix("write a JSON schema of up to %d bytes, such as {\"type\": \"object\", \"required\": [\"ok\"], \"properties\": {\"ok\": {\"type\": \"boolean\"}}}", coppice.MaxSchema).
			WithField("schema")
	}
	return nil
}

func resolve(raw json.RawMessage) (*jsonschema.Resolved, error) {
	if len(raw) > coppice.MaxSchema {
		return nil, fmt.Errorf("it has %d bytes, %d are allowed", len(raw), coppice.MaxSchema)
	}
	if t := bytes.TrimSpace(raw); len(t) == 0 || t[0] != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	if err := bound(raw); err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// Read reads a session's final message. With a schema it must be a JSON value,
// alone or after other text. Without one, the whole message is the answer.
// Problem says why it is not an answer.
func Read(words string, schema json.RawMessage) coppice.Answer {
	a := coppice.Answer{Text: strings.TrimSpace(words)}
	if len(a.Text) > coppice.MaxAnswer {
		a.Text, a.Problem = "", fmt.Sprintf("the answer has %d bytes, %d are allowed", len(a.Text), coppice.MaxAnswer)
		return a
	}
	if len(schema) == 0 {
		if !coppice.Visible(a.Text) {
			a.Problem = "the agent ended without an answer"
		}
		return a
	}
	resolved, err := resolve(schema)
	if err != nil {
		a.Problem = err.Error()
		return a
	}
	a.Problem = "the answer has no JSON value"
	for value := range values(a.Text) {
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			continue
		}
		if err := resolved.Validate(v); err != nil {
			if a.Value == nil { // the last value is the intended one
				a.Value, a.Problem = value, "the answer does not match its schema: "+err.Error()
			}
			continue
		}
		a.Value, a.Problem = value, ""
		return a
	}
	return a
}

// mostStarts limits how many positions of a text are tried.
const mostStarts = 1000

// values yields the JSON values of a text: first the whole text, then objects
// and arrays, the last one first.
func values(text string) func(yield func(json.RawMessage) bool) {
	return func(yield func(json.RawMessage) bool) {
		if json.Valid([]byte(text)) {
			yield(json.RawMessage(text))
			return
		}
		rest := text
		for range mostStarts {
			i := strings.LastIndexAny(rest, "{[")
			if i < 0 {
				return
			}
			var v json.RawMessage
			if err := json.NewDecoder(strings.NewReader(text[i:])).Decode(&v); err == nil && !yield(v) {
				return
			}
			rest = rest[:i]
		}
	}
}
