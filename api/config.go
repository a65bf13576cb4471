package api

import "encoding/json"

// ConfigKey is one key of a project's coppice.yaml: its meaning, its value and
// where that comes from.
type ConfigKey struct {
	Key     string          `json:"key" doc:"As in limits.sessions; [] stands for a list's element, * for a name of one's own"`
	Form    bool            `json:"form,omitempty" doc:"Only describes what stands in a list or below a name: it has no value of its own"`
	Value   json.RawMessage `json:"value,omitempty" doc:"As JSON"`
	Text    string          `json:"text" doc:"The value as one would write it in YAML, or a sentence in brackets where nothing is set"`
	Default string          `json:"default" doc:"What leaving it out means, likewise"`
	Source  string          `json:"source,omitempty" doc:"default, or file and line"`
	Line    int             `json:"line,omitempty" doc:"The line of coppice.yaml that sets it"`
	Type    string          `json:"type" doc:"In a person's words"`
	Doc     string          `json:"doc"`
	Example string          `json:"example,omitempty"`
	OneOf   []string        `json:"one_of,omitempty" doc:"The only values"`
	Names   []string        `json:"names,omitempty" doc:"The only names in it"`
	Min     *int            `json:"min,omitempty" doc:"The least number"`
	Max     *int            `json:"max,omitempty" doc:"The greatest number"`
	Least   string          `json:"least,omitempty" doc:"The shortest duration"`
	Pattern string          `json:"pattern,omitempty" doc:"A regular expression that a text fits"`
	Needed  bool            `json:"needed,omitempty" doc:"It must be given within its mapping"`
}

// ServerSetting is something that `coppice serve` was started with.
type ServerSetting struct {
	Name   string `json:"name" doc:"The flag without its dashes, or the key of the user's config.yaml"`
	Value  string `json:"value"`
	Source string `json:"source" doc:"default, flag, environment, or the line of the user's config.yaml"`
	Doc    string `json:"doc"`
}

// ProjectConfig is a project's coppice.yaml, key by key.
type ProjectConfig struct {
	Path     string          `json:"path" doc:"The file"`
	Exists   bool            `json:"exists" doc:"False when there is none and all is default"`
	Revision string          `json:"revision" doc:"Names the file's present content; send it with a change"`
	Keys     []ConfigKey     `json:"keys"`
	Server   []ServerSetting `json:"server" doc:"What the server was started with; only a restart changes it"`
}

// ConfigChange sets a key of coppice.yaml, or takes it out.
type ConfigChange struct {
	Key      string          `json:"key" minLength:"1" maxLength:"200" doc:"As in limits.sessions or limits.per_agent.NAME"`
	Value    json.RawMessage `json:"value,omitempty" doc:"The new value as JSON"`
	Unset    bool            `json:"unset,omitempty" doc:"Take the key out, so that its default holds"`
	Revision string          `json:"revision,omitempty" maxLength:"64" doc:"The change is refused when the file is no longer this one"`
}
