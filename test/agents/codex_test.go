package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coppice/agent"
	"coppice/agent/agenttest"
	"coppice/agent/codex"
)

// codexBench sets the agent up to use the scripted model.
func codexBench(t *testing.T) *bench {
	t.Helper()
	return newCodex(t)
}

func newCodex(t *testing.T, rules ...string) *bench {
	t.Helper()
	b := newBench(t, codex.Name, rules...)
	b.protocol, b.asksBy = codex.New(), "item/fileChange/requestApproval"
	b.recorded = b.scrubCodex
	readyCodex(t, b, "")
	return b
}

// readyCodex has the agent use the scripted model. The lines are further
// settings.
func readyCodex(t *testing.T, b *bench, lines string) {
	t.Helper()
	b.env["CODEX_HOME"], b.env["SCRIPTED_KEY"] = b.home, "test-key"
	put(t, filepath.Join(b.home, "config.toml"), lines+`model = "gpt-5.5-codex"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "`+b.url+`/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1
[features]
plugins = false
`)
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

// noise are lines about the machine: what it has installed, and where the test's
// files are.
var noise = regexp.MustCompile(`bubblewrap|could not create PATH aliases`)

// scrubCodex makes what was recorded of a run the same for every run and machine.
func (b *bench) scrubCodex(t *testing.T, r agent.Request) {
	t.Helper()
	_, name, _ := strings.Cut(t.Name(), "/")
	if r.Resume != "" && strings.Contains(name, "resume") {
		name += "-second"
	}
	folder, dialect, _ := strings.Cut(b.protocol.Name(), "-")
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
			text, err := json.Marshal(asked)
			if err != nil {
				t.Fatal(err)
			}
			o.Arg = string(text)
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
