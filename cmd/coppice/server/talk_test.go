package server

import (
	"testing"

	"coppice"
)

// Only agents that can use tool servers read about the tools of Coppice.
func TestToolLines(t *testing.T) {
	t.Parallel()
	s, err := New(Config{State: t.TempDir(), Self: "coppice"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		agent string
		own   *coppice.Profile
		has   bool
	}{
		{"claude", nil, true},
		{"nobody", nil, false},
		{"mine", &coppice.Profile{Protocol: "acp", Command: []string{"x"}}, true},
		{"mine", &coppice.Profile{Protocol: "acp", Command: []string{"x"}, MCP: "none"}, false},
		{"mine", &coppice.Profile{Protocol: "command", Command: []string{"x"}}, false},
	} {
		if got := s.toolLines(c.agent, c.own, coppice.RoleImplement, false); (len(got) > 0) != c.has {
			t.Errorf("%s %+v: %v", c.agent, c.own, got)
		}
	}
}
