package jsonl

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"

	"coppice"
)

// The events that a rule makes from a line.
const (
	asInit     = "init"
	asText     = "text"
	asThinking = "thinking"
	asTool     = "tool"
	asResult   = "tool_result"
	asUsage    = "usage"
	asError    = "error" // reported; the end of the run shows whether it failed
	asEnd      = "end"
)

var kinds = []string{asInit, asText, asThinking, asTool, asResult, asUsage, asError, asEnd}

// dialect says what the lines of one format mean.
type dialect struct {
	// EndsByExit is for formats without a line that ends the turn: only the
	// exit code counts.
	EndsByExit bool `yaml:"ends_by_exit"`
	// Apology matches the final messages of agents that report a failure as if
	// it were a success.
	Apology string                      `yaml:"apology"`
	Exits   map[int]coppice.Class       `yaml:"exits"` // exit codes with one meaning
	Tools   map[string]coppice.ToolKind `yaml:"tools"`
	Paths   []string                    `yaml:"paths"` // fields of a tool's input that name files
	Rules   []rule                      `yaml:"rules"`
	Servers *servers                    `yaml:"servers"` // nil if its agents accept no tool servers

	apology *regexp.Regexp
}

// rule makes an event from the lines that it matches. All rules that match a
// line apply, in order. Fields hold paths such as message.content. Of several
// paths, separated by |, the first that exists counts.
type rule struct {
	When  conditions `yaml:"when"`
	Each  string     `yaml:"each"` // a list, to whose items the rules below apply
	Rules []rule     `yaml:"rules"`
	As    string     `yaml:"as"`

	Conversation string     `yaml:"conversation"`
	Model        string     `yaml:"model"`
	Version      string     `yaml:"version"`
	Text         string     `yaml:"text"`
	Pieces       bool       `yaml:"pieces"` // the texts are pieces of one text
	Ref          string     `yaml:"ref"`
	Name         string     `yaml:"name"`
	Input        string     `yaml:"input"`
	Reason       string     `yaml:"reason"`
	Status       string     `yaml:"status"` // the HTTP status of an error
	Good         conditions `yaml:"good"`   // a result or an end that does not match them is a failure
	Usage        *counts    `yaml:"usage"`
}

// conditions are values by path, all of which must match. Values separated by |
// are alternatives.
type conditions map[string]string

// counts says where a line has the usage since the previous such line.
type counts struct {
	Input      string `yaml:"input"`
	Output     string `yaml:"output"`
	CacheRead  string `yaml:"cache_read"`
	CacheWrite string `yaml:"cache_write"`
	Cost       string `yaml:"cost"`
	// Inclusive says that the input also counts tokens from the cache.
	Inclusive bool `yaml:"inclusive"`
}

func parse(file string, data []byte) (*dialect, error) {
	d := &dialect{}
	if err := yaml.UnmarshalWithOptions(data, d, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("dialect %s: %w", file, err)
	}
	if d.Apology != "" {
		re, err := regexp.Compile(d.Apology)
		if err != nil {
			return nil, fmt.Errorf("dialect %s: %w", file, err)
		}
		d.apology = re
	}
	for code, class := range d.Exits {
		if !slices.Contains(coppice.Classes, class) {
			return nil, fmt.Errorf("dialect %s: exit %d is of an unknown class %q", file, code, class)
		}
	}
	if err := check(d.Rules); err != nil {
		return nil, fmt.Errorf("dialect %s: %w", file, err)
	}
	if s := d.Servers; s != nil && (s.Under == "" || s.URL == "") {
		return nil, fmt.Errorf("dialect %s: servers needs under and url", file)
	}
	if s := d.Servers; s != nil && s.Program != nil && (s.Program.Command == "" || s.Program.Env == "") {
		return nil, fmt.Errorf("dialect %s: servers.program needs command and env", file)
	}
	return d, nil
}

func check(rules []rule) error {
	for i, r := range rules {
		switch {
		case (r.Each == "") == (r.As == ""):
			return fmt.Errorf("rule %d must have one of as and each", i+1)
		case r.As != "" && !slices.Contains(kinds, r.As):
			return fmt.Errorf("rule %d has an unknown kind %q", i+1, r.As)
		}
		if err := check(r.Rules); err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return nil
}
