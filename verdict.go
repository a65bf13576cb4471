package coppice

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// StepVerdict is a verifier's answer on one step.
type StepVerdict struct {
	N        int    `json:"n"` // from 1
	Text     string `json:"text"`
	Pass     bool   `json:"pass"`
	Evidence string `json:"evidence,omitempty"`
}

// Verdict is a verifier session's answer.
type Verdict struct {
	Steps   []StepVerdict `json:"steps"`
	Summary string        `json:"summary,omitempty"`
}

// Pass reports whether every step passed. A verdict without steps passes nothing.
func (v Verdict) Pass() bool {
	for _, s := range v.Steps {
		if !s.Pass {
			return false
		}
	}
	return len(v.Steps) > 0
}

// String writes the verdict as evidence for the session that fixes the findings.
func (v Verdict) String() string {
	var b strings.Builder
	for _, s := range v.Steps {
		word := "FAIL"
		if s.Pass {
			word = "PASS"
		}
		fmt.Fprintf(&b, "STEP %d: %s %s\n", s.N, word, s.Text)
		if s.Evidence != "" {
			fmt.Fprintf(&b, "%s\n", s.Evidence)
		}
	}
	if v.Summary != "" {
		fmt.Fprintf(&b, "\n%s\n", v.Summary)
	}
	return b.String()
}

// WholeStep is the only step of a task without steps.
const WholeStep = "It does what was asked."

// VerdictSchema returns the JSON schema of a verdict on a number of steps, as
// ParseVerdict reads it.
func VerdictSchema(steps int) json.RawMessage {
	type object = map[string]any
	steps = max(steps, 1)
	return Raw(object{
		"type": "object", "additionalProperties": false, "required": []string{"steps", "summary"},
		"properties": object{
			"steps": object{
				"type": "array", "minItems": steps, "maxItems": steps,
				"items": object{
					"type": "object", "additionalProperties": false, "required": []string{"n", "pass", "evidence"},
					"properties": object{
						"n":        object{"type": "integer", "description": "the step's number, from 1"},
						"pass":     object{"type": "boolean"},
						"evidence": object{"type": "string", "description": "what was done to find out, and what was seen"},
					},
				},
			},
			"summary": object{"type": "string"},
		},
	})
}

// silent is the evidence for a step that the verifier did not mention.
const silent = "The verifier said nothing about this step."

// stepRE finds a verdict on a line: STEP 3: PASS, with any decoration that a
// model adds.
var stepRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?im)^[ \\t>*_#`|.\\-]*step[\\s#*_]*(\\d{1,6})\\b[\\s*_`)\\]]*[:.\\-–—|]?[\\s*_`(\\[|:]*(pass|fail)(?:ed|es|s|ing|ure)?\\b[ \\t*_`)\\]:.\\-–—|]*(.*)$")
})

// ParseVerdict reads a verifier's final message: a JSON object with its steps,
// anywhere in the message, or else lines of the form STEP n: PASS or FAIL. The
// last verdict on a step counts. A step that the same message both passes and
// fails has failed. A step without a verdict has failed.
func ParseVerdict(words string, steps []string) Verdict {
	if len(steps) == 0 {
		steps = []string{WholeStep}
	}
	v := Verdict{Steps: make([]StepVerdict, len(steps))}
	for i, s := range steps {
		v.Steps[i] = StepVerdict{N: i + 1, Text: s, Evidence: silent}
	}
	found, summary, ok := jsonVerdict(words)
	if !ok {
		found, summary = lineVerdict(words), ""
	}
	v.Summary = summary
	failed := make([]bool, len(steps))
	for _, t := range found {
		if t.N < 1 || t.N > len(steps) || failed[t.N-1] {
			continue
		}
		s := &v.Steps[t.N-1]
		s.Pass, s.Evidence = t.Pass, t.Evidence
		failed[t.N-1] = !t.Pass
	}
	return v
}

// lineVerdict reads lines of the form STEP n: PASS or FAIL.
func lineVerdict(words string) []StepVerdict {
	var found []StepVerdict
	for _, m := range stepRE().FindAllStringSubmatch(words, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		found = append(found, StepVerdict{N: n, Pass: strings.EqualFold(m[2], "pass"), Evidence: strings.TrimSpace(m[3])})
	}
	return found
}

// jsonVerdict reads the last JSON object of the words that has steps.
func jsonVerdict(words string) (found []StepVerdict, summary string, ok bool) {
	rest := words
	for range 1000 { // the message can consist of braces
		i := strings.LastIndexByte(rest, '{')
		if i < 0 {
			break
		}
		var v struct {
			Steps   []json.RawMessage `json:"steps"`
			Summary string            `json:"summary"`
		}
		if err := json.NewDecoder(strings.NewReader(words[i:])).Decode(&v); err == nil && v.Steps != nil {
			for n, raw := range v.Steps {
				found = append(found, jsonStep(n+1, raw))
			}
			return found, v.Summary, true
		}
		rest = rest[:i]
	}
	return nil, "", false
}

// jsonStep reads one step. A step that cannot be parsed has failed.
func jsonStep(place int, raw json.RawMessage) StepVerdict {
	var s struct {
		N        *int   `json:"n"`
		Pass     *bool  `json:"pass"`
		Evidence string `json:"evidence"`
	}
	if err := json.Unmarshal(raw, &s); err != nil || s.Pass == nil {
		return StepVerdict{N: place, Evidence: "The verifier's answer cannot be read: " + Quote(string(raw))}
	}
	if s.N == nil {
		s.N = &place
	}
	return StepVerdict{N: *s.N, Pass: *s.Pass, Evidence: s.Evidence}
}
