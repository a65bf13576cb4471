package cli

import (
	"encoding/json"
	"strings"

	"github.com/goccy/go-yaml"

	"coppice"
	"coppice/internal/safeyaml"
)

// maxTaskFile bounds a file of tasks.
const maxTaskFile = 32 << 20

// fileTask is a task in a file, with YAML's names for the fields of NewTask.
type fileTask struct {
	Ref       string   `yaml:"ref"`
	Title     string   `yaml:"title"`
	Body      string   `yaml:"body"`
	Priority  int      `yaml:"priority"`
	Track     string   `yaml:"track"`
	Agent     string   `yaml:"agent"`
	Model     string   `yaml:"model"`
	Effort    string   `yaml:"effort"`
	Retry     string   `yaml:"retry"`
	Checks    []string `yaml:"checks"`
	After     []string `yaml:"after"`
	NotBefore string   `yaml:"not_before"`
	Category  string   `yaml:"category"`
	Steps     []string `yaml:"steps"`
	Budget    string   `yaml:"budget"`
	Turns     int      `yaml:"turns"`
	Time      string   `yaml:"time"`
	UntilDone bool     `yaml:"until_done"`
	Answer    bool     `yaml:"answer"`
	Schema    any      `yaml:"schema"`
	Group     string   `yaml:"group"`
	Labels    []string `yaml:"labels"`

	Completion []string `yaml:"completion"`

	Branch  string            `yaml:"branch"`
	Context map[string]string `yaml:"context"`
}

// tasksFromFile reads a list of tasks, or one under the key tasks. JSON is a
// subset of YAML.
func (e *Env) tasksFromFile(path string) ([]coppice.NewTask, error) {
	b, err := e.readFile(path, maxTaskFile)
	if err != nil {
		return nil, err
	}
	return e.parseTasks(path, b)
}

// parseTasks reads the tasks of a file that was read.
func (e *Env) parseTasks(path string, b []byte) ([]coppice.NewTask, error) {
	var wrapped struct {
		Tasks []fileTask `yaml:"tasks"`
	}
	list := &wrapped.Tasks
	var target any = list
	if isMapping(b) {
		target = &wrapped
	}
	if err := safeyaml.Unmarshal(b, target, yaml.DisallowUnknownField()); err != nil {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not a file of tasks: %s", path, strings.TrimSpace(yaml.FormatError(err, false, true))).
			WithFix("see coppice new --help for its fields")
	}
	if len(*list) == 0 {
		return nil, coppice.Errorf(coppice.EInvalid, "%s has no task", path).WithFix("write a list of tasks, each with a title")
	}
	tasks := make([]coppice.NewTask, len(*list))
	for i, t := range *list {
		at, err := e.notBefore(t.NotBefore)
		if err != nil {
			return nil, err
		}
		var usd coppice.USD
		if t.Budget != "" {
			if usd, err = coppice.ParseUSD(t.Budget); err != nil {
				return nil, err
			}
		}
		limit, err := duration(t.Time)
		if err != nil {
			return nil, err
		}
		tasks[i] = coppice.NewTask{
			Ref: t.Ref, Title: t.Title, Body: t.Body, Priority: t.Priority, Track: t.Track, Agent: t.Agent, Model: t.Model, Effort: t.Effort,
			Checks: t.Checks, After: t.After, NotBefore: at, Category: t.Category, Steps: t.Steps, Budget: usd, Answer: t.Answer,
			Turns: t.Turns, Time: limit, UntilDone: t.UntilDone,
			Group: t.Group, Labels: t.Labels, Retry: t.Retry, Completion: t.Completion, Branch: t.Branch, Context: t.Context,
		}
		if t.Schema != nil {
			if tasks[i].Schema, err = json.Marshal(t.Schema); err != nil {
				return nil, coppice.Errorf(coppice.EInvalid, "the schema of %s is not JSON: %v", coppice.Quote(t.Title), err).WithField("schema")
			}
		}
	}
	return tasks, nil
}

// isMapping reports whether a document's top level is a mapping rather than a
// list.
func isMapping(b []byte) bool {
	for _, l := range strings.Split(string(b), "\n") {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") || l == "---" {
			continue
		}
		return !strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "[")
	}
	return false
}
