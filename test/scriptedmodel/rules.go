package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// The rules file.
//
//	{
//	  "rules": [
//	    { "name":  "write-and-commit",
//	      "match": "WRITE (\\S+)=(\\S+)",          // regexp on the last user message
//	      "steps": [                                // one element per model reply
//	        {"write": {"path": "$1", "content": "$2"}},
//	        {"shell": "git add -A && git commit -qm 'add $1'"},
//	        {"text": "done"} ] },
//	    { "name": "overloaded", "match": "OVERLOAD",
//	      "steps": [ {"status": 529, "times": 2}, {"text": "recovered"} ] }
//	  ],
//	  "default": [ {"text": "ok"} ]
//	}
//
// The first rule whose conditions all hold is used. Which step is played is worked out
// from the request alone: every tool call carries its step number in its id, so the next
// step is one more than the highest number seen after the last user message. Retries,
// resumed sessions and several agents at once therefore need no server state. Only
// "times" is counted, per session and step. Past the last step, the last one is repeated
// if it is plain text, and "done" is answered otherwise.
//
// A step that needs a tool is answered with the text "ok" when the request offers no tools
// (title generation, summaries and other side requests that quote the user's prompt).

// Rules is the whole file.
type Rules struct {
	Rules   []*Rule `json:"rules"`
	Default []Step  `json:"default"`
}

// Rule: all the given patterns must match. Empty patterns match anything.
type Rule struct {
	Name   string `json:"name"`
	Match  string `json:"match"`  // last user message, system reminders removed
	System string `json:"system"` // system prompt / instructions
	Model  string `json:"model"`  // model name
	API    string `json:"api"`    // exactly anthropic, responses, chat or gemini
	NoKey  bool   `json:"no_key"` // only requests that bring no key
	Steps  []Step `json:"steps"`

	match, system, model *regexp.Regexp
	groups               []string // set on the copy that pick returns
}

// Step is one model reply. Text and tool calls may be combined in one step.
// $1..$9 and ${cwd}, ${user}, ${model}, ${session}, ${lastresult} are replaced in all strings.
type Step struct {
	Text string `json:"text,omitempty"`

	// Exact tool calls. Match, when set, is a regexp that picks the first tool on offer
	// whose name it matches (useful for MCP tools, whose names differ between CLIs).
	Tool  *ToolStep  `json:"tool,omitempty"`
	Tools []ToolStep `json:"tools,omitempty"`

	// Portable calls: mapped to whatever tool the CLI offers (see portable.go).
	Shell string     `json:"shell,omitempty"`
	Write *WriteStep `json:"write,omitempty"`

	// HTTP failure instead of a reply. Times is how often it fires before the next
	// step is played in its place; 0 means always.
	Status    int             `json:"status,omitempty"`
	ErrorType string          `json:"error_type,omitempty"`
	Message   string          `json:"message,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"` // the whole answer, for answers that do not fit the vendor's plain form
	Times     int             `json:"times,omitempty"`

	Headers      map[string]string `json:"headers,omitempty"`        // extra response headers
	DelayMS      int               `json:"delay_ms,omitempty"`       // before the response headers
	ChunkDelayMS int               `json:"chunk_delay_ms,omitempty"` // between streamed chunks
	Hang         bool              `json:"hang,omitempty"`           // start the stream, if there is one, then stall until the client leaves
	Drop         bool              `json:"drop,omitempty"`           // start the stream, if there is one, then cut the connection (honours times)

	Usage *Usage `json:"usage,omitempty"` // token counts to report
	Stop  string `json:"stop,omitempty"`  // stop reason override (Anthropic spelling)
}

type ToolStep struct {
	Name  string          `json:"name,omitempty"`
	Match string          `json:"match,omitempty"`
	Input json.RawMessage `json:"input,omitempty"` // an object, or a string for freeform tools
}

type WriteStep struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
}

// ParseRules reads and checks a rules file; unknown fields are errors, so typos show.
func ParseRules(data []byte) (*Rules, error) {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	var rs Rules
	if err := dec.Decode(&rs); err != nil {
		return nil, err
	}
	for i, r := range rs.Rules {
		if r.Name == "" {
			r.Name = fmt.Sprintf("rule%d", i)
		}
		if len(r.Steps) == 0 {
			return nil, fmt.Errorf("rule %s has no steps", r.Name)
		}
		for _, c := range []struct {
			src string
			dst **regexp.Regexp
		}{{r.Match, &r.match}, {r.System, &r.system}, {r.Model, &r.model}} {
			re, err := regexp.Compile("(?s)" + c.src)
			if err != nil {
				return nil, fmt.Errorf("rule %s: %w", r.Name, err)
			}
			*c.dst = re
		}
	}
	return &rs, nil
}

// pick chooses the rule and the step for one request. The index returned is the position
// of the step in the rule; it is also what goes into the tool call ids.
func (s *Server) pick(req *Request) (Rule, int, Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rule := Rule{Name: "default", Steps: s.rules.Default}
	if len(rule.Steps) == 0 {
		rule.Steps = []Step{{Text: "ok"}}
	}
	for _, r := range s.rules.Rules {
		if r.API != "" && r.API != req.API || r.NoKey && req.Keyed {
			continue
		}
		m := r.match.FindStringSubmatch(req.User)
		if m == nil || !r.system.MatchString(req.System) || !r.model.MatchString(req.Model) {
			continue
		}
		rule = *r
		rule.groups = m
		break
	}
	for i := req.NextStep; i < len(rule.Steps); i++ {
		st := rule.Steps[i]
		if st.Times > 0 { // a failure that happens a limited number of times
			key := fmt.Sprintf("%s|%s|%s|%d|%s", req.API, req.Session, rule.Name, i, req.User)
			if s.counts[key] >= st.Times {
				continue
			}
			s.counts[key]++
		}
		return rule, i, st
	}
	last := rule.Steps[len(rule.Steps)-1]
	if last.Text == "" || last.needsTool() {
		last = Step{Text: "done"}
	}
	return rule, len(rule.Steps), last
}

func (st Step) needsTool() bool {
	return st.Tool != nil || len(st.Tools) > 0 || st.Shell != "" || st.Write != nil
}

// Answer is a step with everything filled in, ready for a wire format to encode.
type Answer struct {
	ID    string
	Text  string
	Calls []Call
	Usage Usage
	Stop  string // "" for the natural one
	Step  Step
}

// Call is one tool call. Custom means the OpenAI "custom" (freeform) kind, whose input is a
// plain string rather than JSON.
type Call struct {
	ID        string
	Name      string
	Namespace string // Responses API namespaced tools (Codex MCP)
	Input     json.RawMessage
	Custom    bool
}

func (a Answer) String() string {
	st := a.Step
	switch {
	case st.Status != 0 && st.Status != 200:
		return fmt.Sprintf("HTTP %d", st.Status)
	case st.Hang:
		return "hang"
	case st.Drop:
		return "drop"
	}
	var parts []string
	if a.Text != "" {
		parts = append(parts, "text "+strconv.Quote(clip(a.Text, 80)))
	}
	for _, c := range a.Calls {
		parts = append(parts, "call "+c.Name+" "+clip(string(c.Input), 200))
	}
	return strings.Join(parts, "; ")
}

var (
	groupRE = regexp.MustCompile(`\$[1-9]`)
	varRE   = regexp.MustCompile(`\$\{(cwd|user|model|session|lastresult)\}`)
)

// expand turns a step into an Answer for this request.
func expand(rule Rule, step Step, req *Request, index int) Answer {
	sub := func(s string) string {
		s = groupRE.ReplaceAllStringFunc(s, func(m string) string {
			if n := int(m[1] - '0'); n < len(rule.groups) {
				return rule.groups[n]
			}
			return m
		})
		return varRE.ReplaceAllStringFunc(s, func(m string) string {
			switch m {
			case "${cwd}":
				return req.Cwd
			case "${user}":
				return req.User
			case "${model}":
				return req.Model
			case "${session}":
				return req.Session
			default:
				return req.LastResult
			}
		})
	}
	a := Answer{ID: newID(""), Text: sub(step.Text), Stop: step.Stop, Step: step}
	if step.needsTool() && len(req.Tools) == 0 {
		if a.Text == "" {
			a.Text = "ok"
		}
	} else {
		add := func(c Call) {
			if c.ID == "" {
				c.ID = stepID(index, len(a.Calls))
			}
			a.Calls = append(a.Calls, c)
		}
		tools := step.Tools
		if step.Tool != nil {
			tools = append([]ToolStep{*step.Tool}, tools...)
		}
		for _, t := range tools {
			add(exactCall(t, req, sub))
		}
		if step.Write != nil {
			p := sub(step.Write.Path)
			if !path.IsAbs(p) && req.Cwd != "" {
				p = path.Join(req.Cwd, p)
			}
			add(portableWrite(req, p, sub(step.Write.Content)))
		}
		if step.Shell != "" {
			add(portableShell(req, sub(step.Shell)))
		}
	}
	if step.Usage != nil {
		a.Usage = *step.Usage
	} else {
		out := len(a.Text) / 4
		for _, c := range a.Calls {
			out += len(c.Input) / 4
		}
		a.Usage = Usage{Input: req.Bytes / 4, Output: out + 1}
	}
	return a
}

// subJSON substitutes inside every string of a JSON value, so that the result stays valid
// JSON whatever the captured text contains.
func subJSON(raw json.RawMessage, sub func(string) string) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return raw
	}
	var walk func(any) any
	walk = func(v any) any {
		switch x := v.(type) {
		case string:
			return sub(x)
		case []any:
			for i := range x {
				x[i] = walk(x[i])
			}
		case map[string]any:
			for k := range x {
				x[k] = walk(x[k])
			}
		}
		return v
	}
	return mustJSON(walk(v))
}
