package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/agenttest"
	"coppice/agent/codex"
)

// codexBench sets the agent up to use the scripted model.
func codexBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, codex.Name)
	b.env["CODEX_HOME"] = b.home
	b.env["SCRIPTED_KEY"] = "test-key"
	config := `model = "gpt-5.5-codex"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "` + b.url + `/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1
[features]
plugins = false
`
	if err := os.WriteFile(filepath.Join(b.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// What differs from run to run, and from machine to machine, in what the app
// server says.
var codexScrubs = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`"((?:emitted|started|completed)AtMs|(?:created|updated|recency|started|completed)At|durationMs)":\d+`), `"$1":1`},
	{regexp.MustCompile(`"processId":"\d+"`), `"processId":"1"`},
	{regexp.MustCompile(`"serverName":"[^"]*","installationId"`), `"serverName":"host","installationId"`},
	{regexp.MustCompile(`"sha":"[0-9a-f]{40}"`), `"sha":"1234567812345678123456781234567812345678"`},
	{regexp.MustCompile(`"userAgent":"([a-z]+/[0-9.]+) [^"]*"`), `"userAgent":"$1 (Linux)"`},
	{regexp.MustCompile(`sessions/\d{4}/\d\d/\d\d/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-`), `sessions/2026/01/01/rollout-2026-01-01T00-00-00-`},
	{regexp.MustCompile(`Wall time: [0-9.]+ seconds`), `Wall time: 0.0 seconds`},
	{regexp.MustCompile(`Chunk ID: [0-9a-f]+`), `Chunk ID: 123456`},
}

// noise are lines of the machine's own: what it has installed, and where the
// test's files lie.
var noise = regexp.MustCompile(`bubblewrap|could not create PATH aliases`)

// codexRun runs the agent, and makes what was recorded of it the same for every
// run and machine.
func (b *bench) codexRun(t *testing.T, p agent.Protocol, r agent.Request, on func(*pump, coppice.AgentEvent)) finished {
	t.Helper()
	f := b.run(t, p, r, on)
	if *record && len(r.Prompt) <= 4000 {
		tidyCodex(t, p, r)
	}
	return f
}

func tidyCodex(t *testing.T, p agent.Protocol, r agent.Request) {
	t.Helper()
	_, name, _ := strings.Cut(t.Name(), "/")
	if r.Resume != "" && strings.Contains(name, "resume") {
		name += "-second"
	}
	folder, dialect, _ := strings.Cut(p.Name(), "-")
	file := filepath.Join("..", "..", "agent", folder, "testdata", dialect, name, "transcript.txt")
	all, err := agenttest.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept agenttest.Transcript
	for _, o := range all {
		if noise.MatchString(o.Arg) && (o.Name == "err" || strings.Contains(o.Arg, `"configWarning"`)) {
			continue
		}
		if o.Name == "request" {
			asked := map[string]any{}
			if err := json.Unmarshal([]byte(o.Arg), &asked); err != nil {
				t.Fatal(err)
			}
			delete(asked, "HookURL")
			asked["Dir"] = "/repo"
			if r.Effort != "" {
				asked["Effort"] = r.Effort
			}
			b, err := json.Marshal(asked)
			if err != nil {
				t.Fatal(err)
			}
			o.Arg = string(b)
		}
		for _, s := range codexScrubs {
			o.Arg = s.re.ReplaceAllString(o.Arg, s.to)
		}
		kept = append(kept, o)
	}
	if err := os.WriteFile(file, []byte(kept.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// codexFailures are the ways in which a run fails, the same in both protocols.
var codexFailures = []struct {
	name, prompt, resume string
	class                coppice.Class
}{
	{"401", "FAIL401", "", coppice.ClassAuth},
	{"403", "FAIL403", "", coppice.ClassAuth},
	{"503", "FAIL503", "", coppice.ClassOverload},
	{"429", "FAIL429", "", coppice.ClassRateLimit},
	{"500", "FAIL500", "", coppice.ClassOverload},
	{"long", "FAILLONG", "", coppice.ClassContext},
	{"login", "SAY hi", "", coppice.ClassAuth},
	{"unknown", "SAY hi", "00000000-0000-4000-8000-000000000099", coppice.ClassUnknown},
}

func codexFails(t *testing.T, p agent.Protocol, bench func(*testing.T) *bench) {
	for _, c := range codexFailures {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := bench(t)
			if c.name == "login" {
				delete(b.env, "SCRIPTED_KEY")
			}
			f := b.codexRun(t, p, agent.Request{Prompt: c.prompt, Resume: c.resume}, nil)
			wantClass(t, f, c.class)
		})
	}
}
