package smallmodel

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFromEnv(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		env     map[string]string
		address string // "" for no model
		model   string
		problem string
	}{
		{name: "no key", env: map[string]string{"ANTHROPIC_API_KEY": ""}},
		{"the first vendor", map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "https://api.anthropic.com/v1/messages", "claude-haiku-4-5", ""},
		{"the second", map[string]string{"OPENAI_API_KEY": "k"}, "https://api.openai.com/v1/chat/completions", "gpt-4.1-mini", ""},
		{"another address and model", map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/", "ANTHROPIC_SMALL_MODEL": "m"}, "http://127.0.0.1:1/v1/messages", "m", ""},
		{"a bad address", map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "ftp://x"}, "", "", "ANTHROPIC_BASE_URL"},
		{"a bad address and another vendor", map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "ftp://x", "OPENAI_API_KEY": "k"}, "https://api.openai.com/v1/chat/completions", "gpt-4.1-mini", ""},
	} {
		m, err := FromEnv(func(name string) string { return c.env[name] })
		if (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v", c.name, err)
		}
		if (m != nil) != (c.address != "") || m != nil && (m.address != c.address || m.name != c.model || m.key != "k") {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
}
