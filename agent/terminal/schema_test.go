package terminal

import (
	"encoding/json"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
)

// The arguments for a schema are for the agent's other mode.
func TestNoSchema(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{Name, "lines"} {
		p := coppice.Profile{Protocol: protocol, Command: []string{"x"}, Schema: []string{"--schema", "{schema}", "{schema_file}"}, Screen: coppice.ScreenProfile{Runtime: "pty"}}
		l, err := New().Launch(p, agent.Request{Private: "/private", Schema: json.RawMessage(`{"type":"object"}`)})
		if got := strings.Join(l.Argv, " "); err != nil || got != "x" || len(l.Files) != 0 {
			t.Errorf("%s: %q, %v, %v", protocol, got, l.Files, err)
		}
	}
}
