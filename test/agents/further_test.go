//go:build moreagents

package agents

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"coppice/cmd/coppice/protocols"
)

// further are agents of which only the usual abilities are shown, by the name of
// their profile, with what points each at the scripted model.
var further = map[string]struct {
	ready func(*testing.T, *bench)
	shows string // the behaviours
}{
	"copilot": {shows: "resume stop 401 403 long unknown permission-rule hook-closed mcp", ready: func(_ *testing.T, b *bench) {
		b.env["COPILOT_PROVIDER_BASE_URL"], b.env["COPILOT_PROVIDER_API_KEY"] = b.url+"/v1", "test-key"
		b.env["COPILOT_MODEL"], b.env["COPILOT_OFFLINE"] = "scripted-model", "true"
		// It unpacks itself at its first start.
		b.env["XDG_CACHE_HOME"] = filepath.Join(cache(), "more", "copilot", "cache")
	}},
	"cline": {shows: "resume stop large 401 403 long unknown permission-rule", ready: func(t *testing.T, b *bench) {
		b.env["CLINE_API_KEY"], b.env["CLINE_PROVIDER"], b.env["CLINE_MODEL"] = "test-key", "openai-compatible", "scripted-model"
		put(t, filepath.Join(b.home, ".cline", "data", "settings", "providers.json"), text(t, map[string]any{
			"version": 1, "lastUsedProvider": "openai-compatible", "modes": map[string]any{},
			"providers": map[string]any{"openai-compatible": map[string]any{"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual", "settings": map[string]any{
				"provider": "openai-compatible", "apiKey": "test-key", "model": "scripted-model", "baseUrl": b.url + "/v1",
			}}},
		}))
	}},
	"droid": {shows: "resume stop large 401 403 429 long unknown permission-rule permission-always hook-closed", ready: func(t *testing.T, b *bench) {
		b.use, b.env["FACTORY_API_KEY"] = "custom:scripted-model-0", "fk-test-key"
		put(t, filepath.Join(b.home, ".factory", "settings.json"), text(t, map[string]any{"customModels": []any{map[string]any{
			"model": "scripted-model", "displayName": "scripted-model", "baseUrl": b.url + "/v1", "apiKey": "test-key", "provider": "generic-chat-completion-api",
		}}}))
	}},
	"pi": {shows: "resume sigterm large 401 403 429 long unknown", ready: func(t *testing.T, b *bench) {
		b.use, b.env["SCRIPTED_KEY"], b.env["PI_OFFLINE"] = "scripted/m1", "test-key", "1"
		put(t, filepath.Join(b.home, ".pi", "agent", "models.json"), text(t, map[string]any{"providers": map[string]any{"scripted": map[string]any{
			"baseUrl": b.url + "/v1", "apiKey": "SCRIPTED_KEY", "api": "openai-completions",
			"models": []any{map[string]any{"id": "m1", "input": []string{"text"}, "contextWindow": 2_000_000, "maxTokens": 32_000}},
		}}}))
	}},
	"kilo": {shows: "resume stop sigterm large 401 403 429 500 503 unknown", ready: func(t *testing.T, b *bench) {
		put(t, filepath.Join(b.home, ".config", "kilo", "kilo.json"), text(t, providerSettings(b)))
	}},
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func furtherBench(t *testing.T, name string) *bench {
	t.Helper()
	b := newBench(t, name)
	b.protocol, b.asksBy = protocols.All()[b.profile.Protocol], "session/request_permission"
	further[name].ready(t, b)
	return b
}

func TestFurther(t *testing.T) {
	t.Parallel()
	for name, f := range further {
		t.Run(name+"-write", func(t *testing.T) {
			t.Parallel()
			furtherBench(t, name).writes(t)
		})
		show(t, name+"-", func(t *testing.T) *bench { return furtherBench(t, name) }, f.shows)
	}
}
