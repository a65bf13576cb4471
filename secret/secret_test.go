package secret_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"coppice"
	"coppice/internal/redact"
	"coppice/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestValidName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"A", "TRACKER_TOKEN", "t0", strings.Repeat("x", secret.MaxName)} {
		if err := secret.ValidName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "_A", "1A", "a-b", "a.b", "../etc/passwd", "a/b", "a b", "a\n", "a}", "é", "a\x00", strings.Repeat("x", secret.MaxName+1)} {
		if err := secret.ValidName(name); coppice.ErrorCode(err) != coppice.EInvalid || coppice.Public(err).Fix == "" {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCheckValue(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"12345678", "two\nlines of it", strings.Repeat("k", redact.MaxValue), "a\tb c d e f"} {
		if err := secret.CheckValue("A", v); err != nil {
			t.Errorf("%.20q: %v", v, err)
		}
	}
	for name, c := range map[string]struct {
		value string
		code  coppice.Code
	}{
		"empty":        {"", coppice.EInvalid},
		"short":        {"hunter2", coppice.EInvalid},
		"short lines":  {strings.Repeat("short1\n", 10), coppice.EInvalid},
		"zero byte":    {"12345678\x00", coppice.EInvalid},
		"escape":       {"12345678\x1b[2J", coppice.EInvalid},
		"not UTF-8":    {"12345678\xff", coppice.EInvalid},
		"huge":         {strings.Repeat("some line\n", secret.MaxValue/9), coppice.ETooLarge},
		"one big line": {strings.Repeat("k", redact.MaxValue+1), coppice.ETooLarge},
	} {
		err := secret.CheckValue("A", c.value)
		if coppice.ErrorCode(err) != c.code || coppice.Public(err).Fix == "" || c.value != "" && strings.Contains(err.Error(), c.value) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if secret.MinValue < redact.MinValue {
		t.Error("a value is accepted that nobody hides")
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"": true, "plain ${HOME}": true, "Bearer ${secret:A}": true, "${secret:A}${secret:b_1}": true,
		"${secret:}": false, "${secret:a b}": false, "${secret:../x}": false, "${secret:A": false, "x${secret:A} ${secret:1}": false,
	} {
		if err := secret.CheckText(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	servers := map[string]coppice.MCPServer{
		"web":   {URL: "http://x.test/${secret:NO}", Headers: map[string]string{"Authorization": "Bearer ${secret:A}", "X": "${secret:B}-${secret:A}", "Y": "${COPPICE_TOKEN}"}},
		"local": {Command: []string{"tool", "${secret:NO}"}, Env: map[string]string{"KEY": "${secret:C}", "PLAIN": "1"}},
	}
	before := maps.Clone(servers["web"].Headers)
	if got := secret.Names(servers); !slices.Equal(got, []string{"A", "B", "C"}) {
		t.Errorf("names %q", got)
	}
	if got := secret.Used(coppice.Policy{MCP: servers, Forge: coppice.ForgePolicy{Token: "B", Webhook: "HOOK"}}); !slices.Equal(got, []string{"A", "B", "C", "HOOK"}) {
		t.Errorf("used %q", got)
	}
	if got := secret.Used(coppice.Policy{}); len(got) != 0 {
		t.Errorf("used by nobody: %q", got)
	}
	got := secret.Replace(servers, func(name string) string { return "<" + name + ">" })
	if h := got["web"].Headers; h["Authorization"] != "Bearer <A>" || h["X"] != "<B>-<A>" || h["Y"] != "${COPPICE_TOKEN}" {
		t.Errorf("headers %q", h)
	}
	if e := got["local"].Env; e["KEY"] != "<C>" || e["PLAIN"] != "1" || got["local"].Command[1] != "${secret:NO}" {
		t.Errorf("server %+v, want the variables filled in and the command as it was", got["local"])
	}
	if !maps.Equal(before, servers["web"].Headers) {
		t.Error("the servers themselves were changed")
	}
	if secret.Names(nil) != nil || len(secret.Replace(nil, nil)) != 0 {
		t.Error("no servers have secrets")
	}
}

func TestOfNotifier(t *testing.T) {
	t.Parallel()
	n := coppice.Notifier{URL: "https://${secret:HOST}/${secret:PATH}", Token: "TOKEN", To: []string{"a", "${secret:TOPIC}", "${secret:HOST}"}, From: "${secret:FROM}", User: "me"}
	if got := secret.OfNotifier(n); !slices.Equal(got, []string{"FROM", "HOST", "PATH", "TOKEN", "TOPIC"}) {
		t.Errorf("%q", got)
	}
	if got := secret.OfNotifier(coppice.Notifier{}); len(got) != 0 {
		t.Errorf("%q", got)
	}
	text, err := secret.Fill("${secret:A}-${secret:B}", func(name string) (string, error) { return strings.ToLower(name) + "${secret:C}", nil })
	if err != nil || text != "a${secret:C}-b${secret:C}" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := secret.Fill("x ${secret:A}", func(string) (string, error) { return "value", errors.New("no") }); err == nil || text != "" {
		t.Errorf("%q, %v", text, err)
	}
}
