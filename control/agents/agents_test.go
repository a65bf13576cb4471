package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The agents of a machine and of a project are found in the environment in
// which they work, with one search per minute.
func TestAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	count, program := filepath.Join(dir, "count"), filepath.Join(dir, "agent.sh")
	text := "#!/bin/sh\n[ -z \"$SECRET\" ] || exit 9\necho x >>" + count + "\necho version 1.2.3\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	l := NewCache(Search{
		Self: filepath.Join(dir, "none"), Env: []string{"PATH=" + dir, "HOME=" + dir, "SECRET=s"}, Can: func(coppice.Profile) []string { return []string{"resume"} },
	}, func() time.Time { return now }, time.Minute)
	p := &coppice.Project{Policy: coppice.Policy{Agents: map[string]coppice.Profile{
		"mine": {Protocol: "command", Command: []string{program}, Version: []string{program}, Tested: "1.0.0", Env: map[string]string{"COPPICE_ACP_AUTH": "key"}},
		"gone": {Protocol: "command", Command: []string{"no-such-program"}, Install: "get it"},
	}}}
	find := func(p *coppice.Project, refresh bool, name string) api.Agent {
		t.Helper()
		list, err := l.Agents(t.Context(), p, refresh)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list.Agents {
			if a.Name == name {
				return a
			}
		}
		return api.Agent{}
	}
	looked := func(want int) {
		t.Helper()
		if seen, err := os.ReadFile(count); err != nil || strings.Count(string(seen), "x") != want {
			t.Errorf("asked %q, want %d: %v", seen, want, err)
		}
	}
	if a := find(p, false, "mine"); !a.Own || a.Version != "1.2.3" || a.Path != program || len(a.Warnings) != 2 || !strings.Contains(a.Warnings[1], "COPPICE_ACP_AUTH is deprecated") || a.Protocol != "command" || len(a.Can) != 1 {
		t.Errorf("agent %+v, want the project's own with its version, path and two warnings", a)
	}
	if a := find(p, false, "gone"); a.Path != "" || a.Version != "" || a.Install != "get it" {
		t.Errorf("agent %+v, want no path and no version, and how to install it", a)
	}
	looked(1)
	find(p, true, "mine")
	looked(2)
	now = now.Add(reuseFor)
	find(p, false, "mine")
	looked(3)
	if a := find(nil, false, "mine"); a.Name != "" {
		t.Errorf("another project's agent: %+v", a)
	}
	l.Stop()
	if _, err := l.Agents(t.Context(), p, true); coppice.ErrorCode(err) != coppice.EUnavailable {
		t.Errorf("after it was stopped: %v", err)
	}
}

// One agent is found with its profile, and an unknown name is refused.
func TestOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "agent.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 1.2.3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := Search{Self: filepath.Join(dir, "none"), Env: []string{"PATH=" + dir, "HOME=" + dir}, Can: func(coppice.Profile) []string { return nil }}
	own := map[string]coppice.Profile{"mine": {Protocol: "command", Command: []string{program}, Version: []string{program}, PassEnv: []string{"MINE_KEY"}}}
	a, p, err := s.One(t.Context(), "mine", own)
	if err != nil || a.Version != "1.2.3" || a.Path != program || len(p.PassEnv) != 1 {
		t.Errorf("%+v %+v %v", a, p, err)
	}
	if _, _, err := s.One(t.Context(), "min", own); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("an unknown agent: %v", err)
	}
}
