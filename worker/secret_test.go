package worker

import (
	"context"
	"strings"
	"testing"

	"coppice"
	"coppice/agent/claude"
	"coppice/internal/redact"
	"coppice/store"
)

// tracker is a tool server that needs two secrets.
var tracker = map[string]coppice.MCPServer{
	"local":   {Command: []string{"tool"}, Env: map[string]string{"KEY": "${secret:B}"}},
	"tracker": {URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"Authorization": "Bearer ${secret:A}", "X-Same": "${secret:A}"}},
}

// withSecrets creates a session whose tool servers need secrets, and a worker
// that resolves them from values.
func withSecrets(b *bundle, command string, values map[string]string) (work int64, s coppice.Session, resolved *[]string) {
	b.t.Helper()
	resolved = &[]string{}
	b.secrets = func(_ context.Context, name string) (string, error) {
		*resolved = append(*resolved, name)
		value, ok := values[name]
		if !ok {
			return "", coppice.Errorf(coppice.ENotFound, "the secret %s is not set", name).WithFix("run: coppice secret set %s", name)
		}
		b.redact.Add(value)
		return value, nil
	}
	// An agent that finds secrets in its environment.
	b.profile = coppice.Profile{Protocol: claude.Name, Command: []string{"sh", "-c", command}}
	b.open()
	work, s = b.run("")
	w := b.work(work)
	spec, err := coppice.DecodeSpec[coppice.RunSpec](w)
	b.must(err)
	spec.MCP = tracker
	w.Spec = coppice.Raw(spec)
	b.update(func(tx store.Tx) error { return tx.Work.Put(&w) })
	return work, s, resolved
}

// A session gets its secrets in its environment. They are masked in its output,
// also if it fails, and nothing that is kept has them.
func TestSecrets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	values := map[string]string{"A": "value-of-the-first", "B": "value-of-\"the\"-second"}
	id, s, resolved := withSecrets(b, `echo "$COPPICE_SECRET_A, ${#COPPICE_SECRET_B} bytes"; echo "refused: $COPPICE_SECRET_A" >&2; exit 1`, values)
	b.start()
	w := b.finished(id)
	var all strings.Builder
	for _, o := range b.output(s.ID) {
		all.Write(o.Data)
	}
	if out := all.String(); !strings.Contains(out, "[redacted], 21 bytes") || !strings.Contains(out, "refused: [redacted]") {
		t.Errorf("output: %s", out)
	}
	if kept := all.String() + string(w.Spec) + string(w.Result) + string(coppice.Raw(w.Failure)); strings.Contains(kept, "value-of") || !strings.Contains(kept, "${secret:A}") {
		t.Errorf("kept: %s", kept)
	}
	if strings.Join(*resolved, " ") != "B A" {
		t.Errorf("resolved: %q", *resolved)
	}
}

// A secret that cannot be resolved fails the session before it starts, with the
// fix.
func TestMissingSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values    map[string]string
		says, fix string
	}{
		"not set":       {map[string]string{"B": "value-of-the-second"}, "the secret A is not set; the tool server tracker needs this secret", "run: coppice secret set A"},
		"several lines": {map[string]string{"A": "value-of\nthe-first", "B": "value-of\nthe-second"}, "the secret A has several lines", "store one line: coppice secret set A"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, s, _ := withSecrets(b, "echo began", c.values)
			b.start()
			f := b.finished(id).Failure
			if f == nil || f.Class != coppice.ClassEnvironment || !strings.Contains(f.Text, c.says) || f.Fix != c.fix {
				t.Errorf("failure %+v", f)
			}
			if out := b.output(s.ID); len(out) > 0 {
				t.Errorf("it began: %v", out)
			}
		})
	}
}

// An agent without tool servers needs no secrets.
func TestUnneededSecrets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _, resolved := withSecrets(b, `echo "none: ${COPPICE_SECRET_A-unset}"`, nil)
	b.profile.MCP = "none"
	b.start()
	if f := b.finished(id).Failure; f != nil || len(*resolved) > 0 {
		t.Errorf("%v, resolved %q", f, *resolved)
	}
}

// A worker that finds a session again masks its secrets as the earlier worker
// did.
func TestSecretsAfterARestart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.gate("gate")
	id, s, resolved := withSecrets(b, `cat "`+g.path+`"; echo "it is $COPPICE_SECRET_A"`, map[string]string{"A": "value-of-the-first", "B": "value-of-the-second"})
	stop := b.start()
	open := g.reached()
	stop()
	b.redact, *resolved = redact.New(), nil
	b.open()
	open()
	b.start()
	b.finished(id)
	var all strings.Builder
	for _, o := range b.output(s.ID) {
		all.Write(o.Data)
	}
	if out := all.String(); !strings.Contains(out, "it is [redacted]") || strings.Contains(out, "value-of") || len(*resolved) != 2 {
		t.Errorf("resolved %q, output: %s", *resolved, out)
	}
}
