//go:build firsthour && linux

package firsthour

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"coppice/test/scriptedmodel"
)

// The titles of the tasks, by which the model knows them.
const (
	firstTask = "Add a function that counts, with a test"
	fixTask   = "Add a function that lists all names, with a test"
	askTask   = "Write down the format of errors in FORMAT.md"
	redTask   = "Explain the new functions in NOTES.md"
)

// question is what the model asks. Each agent has its own tool for that.
const question = "Which format should errors have?"

var options = []map[string]string{
	{"label": "JSON", "description": "One object per error"},
	{"label": "Plain text", "description": "One line per error"},
}

// rules is what the model does in a repository.
func rules(t *testing.T, r repository) *scriptedmodel.Rules {
	t.Helper()
	say := func(text string) scriptedmodel.Step { return scriptedmodel.Step{Text: text} }
	write := func(files ...file) (steps []scriptedmodel.Step) {
		for _, f := range files {
			if f.append {
				steps = append(steps, scriptedmodel.Step{Shell: f.shell()})
			} else {
				steps = append(steps, scriptedmodel.Step{Write: &scriptedmodel.WriteStep{Path: f.path, Content: f.text}})
			}
		}
		return steps
	}
	asks := func(api, tool string) *scriptedmodel.Rule {
		ask := map[string]any{"id": "format", "header": "Format", "question": question, "options": options}
		if api == "anthropic" {
			delete(ask, "id")
			ask["multiSelect"] = false
		}
		input, err := json.Marshal(map[string]any{"questions": []any{ask}})
		if err != nil {
			t.Fatal(err)
		}
		steps := []scriptedmodel.Step{{Tool: &scriptedmodel.ToolStep{Name: tool, Input: input}}}
		steps = append(steps, write(file{path: "FORMAT.md", text: "The person said: ${lastresult}\n"})...)
		return &scriptedmodel.Rule{Match: askTask, API: api, Steps: append(steps, say("I wrote it down."))}
	}
	all := scriptedmodel.Rules{Rules: []*scriptedmodel.Rule{
		{Match: "single word ready", Steps: []scriptedmodel.Step{say("ready")}},
		{Match: "was refused.*" + fixTask + ".*names of all", Steps: []scriptedmodel.Step{
			{Text: "The check is right: names are missing.", Shell: r.fixed.shell()},
			say("All names are listed now."),
		}},
		{Match: firstTask, Steps: append(write(r.first...), scriptedmodel.Step{Shell: r.try}, say("I added it with a test, which passes."))},
		{Match: fixTask, Steps: append(write(r.broken...), say("I added it with a test."))},
		asks("anthropic", "AskUserQuestion"),
		asks("responses", "request_user_input"),
		{Match: redTask, Steps: append(write(file{path: "NOTES.md", text: "# Notes\n\nOne counts, the other one lists names.\n"}), say("I explained both."))},
	}}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := scriptedmodel.ParseRules(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// logIn has the agents use the model, as docs/agents.md describes it for gateways.
func (h *hour) logIn(address string) {
	h.T.Helper()
	h.Extra = append(h.Extra, "ANTHROPIC_BASE_URL="+address, "ANTHROPIC_API_KEY=test-key", "OPENAI_API_KEY=test-key")
	dir := filepath.Join(h.Home, ".codex")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.T.Fatal(err)
	}
	err := os.WriteFile(filepath.Join(dir, "config.toml"), fmt.Appendf(nil, `model = "gpt-5.5-codex"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1
[features]
plugins = false
`, address), 0o600)
	if err != nil {
		h.T.Fatal(err)
	}
}
