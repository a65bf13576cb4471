package api

import "encoding/json"

// ConfigKey is one key of a project's coppice.yaml: its meaning, its value and
// the source of the value.
type ConfigKey struct {
	Key     string          `json:"key" doc:"As in limits.sessions; [] stands for a list's element, * for a name that the user chooses"`
	Form    bool            `json:"form,omitempty" doc:"Only describes the elements of a list or the values below a name: it has no value itself"`
	Value   json.RawMessage `json:"value,omitempty" doc:"As JSON"`
	Text    string          `json:"text" doc:"The value as YAML, or a sentence in brackets if it is not set"`
	Default string          `json:"default" doc:"The default, in the same form"`
	Source  string          `json:"source,omitempty" doc:"default, or file and line"`
	Line    int             `json:"line,omitempty" doc:"The line of coppice.yaml that sets it"`
	Type    string          `json:"type" doc:"The type, for people"`
	Shape   string          `json:"shape" enum:"choice,switch,number,text,lines,json" doc:"How a form shows the value: one of one_of, true or false, a number, a text, one text per line, or JSON"`
	Doc     string          `json:"doc"`
	Example string          `json:"example,omitempty"`
	OneOf   []string        `json:"one_of,omitempty" doc:"The only values"`
	Names   []string        `json:"names,omitempty" doc:"The only names in it"`
	Min     *int            `json:"min,omitempty" doc:"The least number"`
	Max     *int            `json:"max,omitempty" doc:"The greatest number"`
	Least   string          `json:"least,omitempty" doc:"The shortest duration"`
	Pattern string          `json:"pattern,omitempty" doc:"A regular expression that a text must match"`
	Needed  bool            `json:"needed,omitempty" doc:"It is required in its mapping"`
	Secret  bool            `json:"secret,omitempty" doc:"The value is the name of a secret"`
}

// ServerSetting is a setting with which `coppice serve` was started.
type ServerSetting struct {
	Name   string `json:"name" doc:"The flag without its dashes, or the key of the user's config.yaml"`
	Value  string `json:"value"`
	Source string `json:"source" doc:"default, flag, environment, or the line of the user's config.yaml"`
	Doc    string `json:"doc"`
}

// ProjectConfig is a project's coppice.yaml, key by key.
type ProjectConfig struct {
	Path     string          `json:"path" doc:"The file"`
	Exists   bool            `json:"exists" doc:"False if the file does not exist and all keys have their defaults"`
	Revision string          `json:"revision" doc:"Identifies the file's current content; send it with a change"`
	Keys     []ConfigKey     `json:"keys"`
	Diff     string          `json:"diff,omitempty" doc:"Of a dry run: what the change would do to the file, as a unified diff; absent if nothing"`
	Server   []ServerSetting `json:"server" doc:"What the server was started with; only a restart changes it"`
}

// ConfigChange sets or removes a key of coppice.yaml, or of the user's config.yaml.
type ConfigChange struct {
	Key      string          `json:"key" minLength:"1" maxLength:"200" doc:"As in limits.sessions or limits.per_agent.NAME"`
	Value    json.RawMessage `json:"value,omitempty" doc:"The new value as JSON"`
	Unset    bool            `json:"unset,omitempty" doc:"Remove the key, so that its default applies"`
	Revision string          `json:"revision,omitempty" maxLength:"64" doc:"The change is refused if the file has changed since"`
	DryRun   bool            `json:"dry_run,omitempty" doc:"Only check the change and return its diff; write nothing"`
}

// Prompts are the prompts of a project, and what their texts can use.
type Prompts struct {
	Prompts   []Prompt      `json:"prompts"`
	Fields    []PromptField `json:"fields" doc:"The fields that the text of a role's prompt can use, as in {{.Title}}"`
	Functions []string      `json:"functions" doc:"The functions that it can use, besides if, with and range"`
}

// PromptField is a field that the text of a prompt can use.
type PromptField struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// Prompt is the text from which the first message of sessions in a role, or of steps of
// a flow, is written.
type Prompt struct {
	Role     string `json:"role" doc:"Or the name of a prompt of flows, such as flow-goal-lead"`
	About    string `json:"about" doc:"What its sessions do"`
	Path     string `json:"path" doc:"The project's own file, relative to the repository"`
	Own      bool   `json:"own,omitempty" doc:"The file exists"`
	Text     string `json:"text" doc:"Of the file if it exists, otherwise the built-in text; a Go template"`
	BuiltIn  string `json:"built_in" doc:"The built-in text"`
	Revision string `json:"revision" doc:"Identifies the file's current content; send it with a change"`
	Problem  string `json:"problem,omitempty" doc:"Why the file cannot be used; the built-in text is then in effect"`
	Waits    bool   `json:"waits,omitempty" doc:"The text is not in effect yet, for example because it waits for a confirmation"`
	Diff     string `json:"diff,omitempty" doc:"Of a dry run: what the change would do, as a unified diff; absent if nothing"`
	// Fields is nil for a role.
	Fields []string `json:"fields,omitempty" doc:"The fields that the text of a prompt of flows can use; absent for a role"`
}

// PromptChange replaces the prompt of a role, or removes the project's own.
type PromptChange struct {
	Text     string `json:"text,omitempty" doc:"The new text of the project's own file"`
	Unset    bool   `json:"unset,omitempty" doc:"Remove the file, so that the built-in text is used"`
	Revision string `json:"revision,omitempty" maxLength:"64" doc:"The change is refused if the file has changed since"`
	DryRun   bool   `json:"dry_run,omitempty" doc:"Only check the change and return its diff; write nothing"`
}
