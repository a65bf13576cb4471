package scripted

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"coppice"
	"coppice/internal/safeyaml"
)

// Script is the whole file: the first case that matches a session is played.
//
//	cases:
//	  - match: Add a greeting            # regexp on the prompt; empty matches all
//	    role: implement                  # or fix or verify; empty matches all
//	    session: 1                       # only the task's first session
//	    steps:
//	      - say: I will write a greeting.
//	      - write: {path: hello.txt, content: "hello\n"}
//	      - commit: Add a greeting
//
// A step is a mapping with one key, the name of a field of Step. In texts,
// ${answer} stands for the last answer or message, ${base} for the branch that
// work lands on, ${session} for the session's key, and $1 … $9 for the groups
// of match.
type Script struct {
	Cases []Case `yaml:"cases"`
}

// Case is a list of steps and the sessions they are for.
type Case struct {
	Match   Pattern      `yaml:"match"`
	Role    coppice.Role `yaml:"role"`
	Session int          `yaml:"session"` // its number within the task; 0 matches all
	Steps   []Step       `yaml:"steps"`
}

// Step is one thing to do: exactly one field is set.
type Step struct {
	Say         *string  `yaml:"say"`          // a text
	Think       *string  `yaml:"think"`        // a thought
	Plan        *string  `yaml:"plan"`         // a plan
	Write       *File    `yaml:"write"`        // create or replace a file
	Append      *File    `yaml:"append"`       // add to a file
	Replace     *Replace `yaml:"replace"`      // replace a text that occurs one time
	Delete      *string  `yaml:"delete"`       // a file
	Run         *string  `yaml:"run"`          // a shell command; the script fails if it does
	Commit      *string  `yaml:"commit"`       // everything, with this message
	Merge       *Merge   `yaml:"merge"`        // a branch into the workspace's
	Ask         *Ask     `yaml:"ask"`          // wait for a person's answer
	WaitMessage *bool    `yaml:"wait_message"` // wait for a message
	Sleep       *Delay   `yaml:"sleep"`        // 200ms, 1.5s
	Hang        *Hang    `yaml:"hang"`         // do nothing until stopped
	Flood       *Flood   `yaml:"flood"`        // write a lot
	Crash       *Crash   `yaml:"crash"`        // die without output
	Fail        *Fail    `yaml:"fail"`         // end with a failure
	Usage       *Usage   `yaml:"usage"`        // report what was used
	Tool        *Tool    `yaml:"tool"`         // report a tool call that did nothing
	Verdict     []string `yaml:"verdict"`      // shell commands, one for each step of the task: STEP n passes or fails as the nth one does

	line, column int
}

// File is a path within the workspace and its content.
type File struct {
	Path    string `yaml:"path"`
	Content string `yaml:"content"`
}

// Replace changes Old, which must occur in the file exactly one time, to New.
type Replace struct {
	Path string `yaml:"path"`
	Old  string `yaml:"old"`
	New  string `yaml:"new"`
}

// Merge merges a branch (default ${base}) and commits. Files that conflict get
// the content given here. A conflict without content fails the step.
type Merge struct {
	Branch  string            `yaml:"branch"`
	Resolve map[string]string `yaml:"resolve"` // path: content
	Message string            `yaml:"message"`
}

// Ask is a question, written as a text alone or with options.
type Ask struct {
	Text         string   `yaml:"text"`
	Options      []string `yaml:"options"`
	Descriptions []string `yaml:"descriptions"`
	Several      bool     `yaml:"several"`
}

// Hang is true, or "deaf" to also ignore stop and SIGTERM.
type Hang struct{ Deaf bool }

// Flood writes that many bytes of text, in lines.
type Flood struct {
	Bytes int `yaml:"bytes"`
}

// Crash ends the process by a signal (KILL, TERM, …) or with an exit code.
type Crash struct {
	Signal string `yaml:"signal"`
	Exit   int    `yaml:"exit"`
}

// Fail ends the session with a failure of a class. RetryAt is a time, or
// RetryIn a duration from now.
type Fail struct {
	Class   coppice.Class `yaml:"class"`
	Text    string        `yaml:"text"`
	RetryAt time.Time     `yaml:"retry_at"`
	RetryIn Delay         `yaml:"retry_in"`
}

// Usage is coppice.Usage as a script writes it.
type Usage struct {
	Input      int64   `yaml:"input_tokens"`
	Output     int64   `yaml:"output_tokens"`
	CacheRead  int64   `yaml:"cache_read_tokens"`
	CacheWrite int64   `yaml:"cache_write_tokens"`
	CostUSD    float64 `yaml:"cost_usd"`
	Turns      int64   `yaml:"turns"`
}

// Tool is a tool call as an event.
type Tool struct {
	Name   string   `yaml:"name"`
	Kind   string   `yaml:"kind"`
	Paths  []string `yaml:"paths"`
	Output string   `yaml:"output"`
	Failed bool     `yaml:"failed"`
}

// Pattern is a regular expression, in which . matches line breaks too.
type Pattern struct{ *regexp.Regexp }

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (p *Pattern) UnmarshalYAML(n ast.Node) error {
	var s string
	if err := yaml.NodeToValue(n, &s); err != nil {
		return err
	}
	re, err := regexp.Compile("(?s)" + s)
	if err != nil {
		return at(n, "%s is not a valid regular expression", coppice.Quote(s))
	}
	p.Regexp = re
	return nil
}

// Delay is a duration; a bare number counts milliseconds.
type Delay time.Duration

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (d *Delay) UnmarshalYAML(n ast.Node) error {
	s := n.GetToken().Value
	if ms, err := strconv.Atoi(s); err == nil {
		s = strconv.Itoa(ms) + "ms"
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 || v > 24*time.Hour {
		return at(n, "%s is not a valid delay; write it as 200ms or 1.5s", coppice.Quote(s))
	}
	*d = Delay(v)
	return nil
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (h *Hang) UnmarshalYAML(n ast.Node) error {
	switch n.GetToken().Value {
	case "true":
	case "deaf":
		h.Deaf = true
	default:
		return at(n, "hang is either true or deaf")
	}
	return nil
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (a *Ask) UnmarshalYAML(n ast.Node) error {
	if n.Type() != ast.MappingType && n.Type() != ast.MappingValueType {
		return yaml.NodeToValue(n, &a.Text)
	}
	type plain Ask
	return yaml.NodeToValue(n, (*plain)(a), yaml.Strict())
}

// UnmarshalYAML implements yaml.NodeUnmarshaler. It keeps the step's place for
// errors and refuses a step without a key or with several.
func (s *Step) UnmarshalYAML(n ast.Node) error {
	type plain Step
	if err := yaml.NodeToValue(n, (*plain)(s), yaml.Strict()); err != nil {
		return err
	}
	pos := n.GetToken().Position
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		pos = m.Values[0].Key.GetToken().Position
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		pos = m.Key.GetToken().Position
	}
	s.line, s.column = pos.Line, pos.Column
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) != 1 {
		return at(n, "a step has one key, this one has %d", len(m.Values))
	}
	if problem := s.check(); problem != "" {
		return &place{s.line, s.column, problem}
	}
	return nil
}

// check returns the problem of a step.
func (s *Step) check() string {
	switch {
	case s.Write != nil && s.Write.Path == "", s.Append != nil && s.Append.Path == "", s.Replace != nil && s.Replace.Path == "":
		return "the path is missing"
	case s.Delete != nil && *s.Delete == "":
		return "delete needs a path"
	case s.Replace != nil && s.Replace.Old == "":
		return "replace needs the old text"
	case s.Run != nil && *s.Run == "":
		return "run needs a command"
	case s.Ask != nil && s.Ask.Text == "":
		return "ask needs a question"
	case s.Verdict != nil && (len(s.Verdict) == 0 || slices.Contains(s.Verdict, "")):
		return "verdict needs a command for each step"
	case s.Flood != nil && (s.Flood.Bytes < 1 || s.Flood.Bytes > 1<<32):
		return "flood needs a number of bytes"
	case s.Crash != nil && s.Crash.Signal != "" && signals[s.Crash.Signal] == 0:
		return "crash knows the signals KILL, TERM, INT and HUP"
	case s.Crash != nil && (s.Crash.Exit < 0 || s.Crash.Exit > 255):
		return "an exit code is a number from 0 to 255"
	case s.Fail != nil && !slices.Contains(coppice.Classes, s.Fail.Class):
		return fmt.Sprintf("%s is not a valid class of failure", coppice.Quote(string(s.Fail.Class)))
	}
	return ""
}

// place is an error with its place in the file.
type place struct {
	line, column int
	text         string
}

func (p *place) Error() string { return p.text }

func at(n ast.Node, format string, args ...any) error {
	pos := n.GetToken().Position
	return &place{pos.Line, pos.Column, fmt.Sprintf(format, args...)}
}

// Parse reads a script. Errors have the line and column.
func Parse(name string, data []byte) (*Script, error) {
	var s Script
	if err := safeyaml.Unmarshal(data, &s, yaml.Strict()); err != nil {
		return nil, located(name, err)
	}
	for i, c := range s.Cases {
		if c.Role != "" && c.Role.Info().Role != c.Role {
			return nil, coppice.Errorf(coppice.EInvalid, "%s: case %d: %s is not a role", name, i+1, coppice.Quote(string(c.Role))).
				WithFix("use one of %s", strings.Join(coppice.RoleNames(), ", "))
		}
	}
	return &s, nil
}

func located(name string, err error) error {
	var p *place
	if errors.As(err, &p) {
		return coppice.Errorf(coppice.EInvalid, "%s:%d:%d: %s", name, p.line, p.column, p.text)
	}
	var y yaml.Error
	if errors.As(err, &y) {
		line, column := 1, 1
		if t := y.GetToken(); t != nil && t.Position != nil {
			line, column = t.Position.Line, t.Position.Column
		}
		return coppice.Errorf(coppice.EInvalid, "%s:%d:%d: %s", name, line, column, y.GetMessage())
	}
	return coppice.Errorf(coppice.EInvalid, "%s: %s", name, strings.TrimSpace(err.Error()))
}

// find returns the first case that matches, and its groups.
func (s *Script) find(in input) (Case, []string, bool) {
	n := 0
	if _, _, session, err := coppice.ParseKey(in.Session); err == nil {
		n = session
	}
	for _, c := range s.Cases {
		if c.Role != "" && c.Role != in.Role || c.Session != 0 && c.Session != n {
			continue
		}
		if c.Match.Regexp == nil {
			return c, nil, true
		}
		if m := c.Match.FindStringSubmatch(in.Text); m != nil {
			return c, m, true
		}
	}
	return Case{}, nil, false
}
