package server

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"coppice"
)

// A project can use the agents whose programs are installed. The best lead comes first,
// and of equal ones the agent that the project names.
func TestUsable(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	for _, name := range []string{"low", "high", "other", "coppice"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(Config{State: t.TempDir(), Self: filepath.Join(bin, "coppice"), Environ: []string{"PATH=" + bin}})
	if err != nil {
		t.Fatal(err)
	}
	own := func(name string, lead int) coppice.Profile {
		return coppice.Profile{Protocol: "acp", Command: []string{name}, Scores: coppice.Scores{Lead: lead, Implement: 1}}
	}
	agents := map[string]coppice.Profile{"low": own("low", 2), "high": own("high", 9), "other": own("other", 2), "gone": own("gone", 10)}
	for _, c := range []struct {
		use      string
		fallback []string
		want     []string
	}{
		{"low", nil, []string{"high", "low", "other"}},
		{"other", []string{"low:model"}, []string{"high", "other", "low"}},
		{scriptedAgent, nil, []string{"high", "low", "other", scriptedAgent}},
	} {
		p := coppice.Project{Policy: coppice.Policy{Agents: agents}}
		p.Policy.Agent.Use, p.Policy.Agent.Fallback = c.use, c.fallback
		var got []string
		for _, a := range s.usable(p) {
			got = append(got, a.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("with agent.use %s and agent.fallback %v: %v, want %v", c.use, c.fallback, got, c.want)
		}
	}
}
