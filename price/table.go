package price

import "coppice"

// The vendors. Prices are for ordinary requests, without surcharges for very
// long prompts, discounts for batches, and temporary promotions.
const (
	anthropic = "anthropic"
	openai    = "openai"
	google    = "google"
)

// pages has the vendors' pages of prices.
var pages = map[string]string{
	anthropic: "https://platform.claude.com/docs/en/about-claude/pricing",
	openai:    "https://developers.openai.com/api/docs/pricing",
	google:    "https://ai.google.dev/gemini-api/docs/pricing",
}

// lookedUp is the day on which the sources were read. They are copies of web
// pages, which are older. Their own dates are unknown.
const lookedUp = "2026-11-16"

// confirmed has the models whose prices were all found in a copy of a page of
// their vendor. The other prices were reported by third parties that cite the
// vendor. Some of them disagree.
var confirmed = map[string]bool{
	"claude-fable-5-1": true, "claude-fable-5": true, "claude-opus-5": true, "claude-opus-4-8": true, "claude-opus-4-7": true,
	"claude-opus-4-6": true, "claude-opus-4-5": true, "claude-sonnet-5": true,
}

// prefixes has the prefixes of the names of a vendor's models.
var prefixes = []struct{ prefix, vendor string }{
	{"claude", anthropic}, {"opus", anthropic}, {"sonnet", anthropic}, {"haiku", anthropic}, {"fable", anthropic},
	{"gpt", openai}, {"codex", openai}, {"o1", openai}, {"o3", openai}, {"o4", openai},
	{"gemini", google},
}

// listed has the prices of each model: USD per million tokens of input, output,
// cache read and cache write. If no price for the cache was found, it is 0, and
// the price of input is used.
var listed = []struct {
	vendor, model                        string
	input, output, cacheRead, cacheWrite coppice.USD
}{
	{anthropic, "claude-fable-5-1", 10, 50, 0.25, 12.50},
	{anthropic, "claude-fable-5", 10, 50, 1, 12.50},
	{anthropic, "claude-opus-5-5", 4, 20, 0.20, 5},
	{anthropic, "claude-opus-5", 5, 25, 0.50, 6.25},
	{anthropic, "claude-opus-4-8", 5, 25, 0.50, 6.25},
	{anthropic, "claude-opus-4-7", 5, 25, 0.50, 6.25},
	{anthropic, "claude-opus-4-6", 5, 25, 0.50, 6.25},
	{anthropic, "claude-opus-4-5", 5, 25, 0.50, 6.25},
	{anthropic, "claude-sonnet-5-5", 2, 10, 0.20, 2.50},
	{anthropic, "claude-sonnet-5", 2, 10, 0.20, 2.50},
	{anthropic, "claude-sonnet-4-6", 3, 15, 0.30, 3.75},
	{anthropic, "claude-sonnet-4-5", 3, 15, 0.30, 3.75},
	{anthropic, "claude-haiku-4-5", 1, 5, 0.10, 1.25},

	{openai, "gpt-6-astra", 10, 50, 1, 12.50},
	{openai, "gpt-6.1-sol", 2, 10, 0.10, 0},
	{openai, "gpt-6-sol", 2, 10, 0.20, 2.50},
	{openai, "gpt-6-luna", 0.10, 0.50, 0.01, 0.125},
	{openai, "gpt-5.6", 5, 30, 0.50, 6.25},
	{openai, "gpt-5.6-sol", 5, 30, 0.50, 6.25},
	{openai, "gpt-5.6-terra", 2, 12, 0.20, 2.50},
	{openai, "gpt-5.6-luna", 0.20, 1.20, 0.02, 0.25},
	{openai, "gpt-5.5", 5, 30, 0.50, 0},
	{openai, "gpt-5.5-pro", 30, 180, 0, 0},
	{openai, "gpt-5.4", 2.50, 15, 0.25, 0},
	{openai, "gpt-5.4-mini", 0.75, 4.50, 0.075, 0},
	{openai, "gpt-5.4-nano", 0.20, 1.25, 0.02, 0},
	{openai, "gpt-5.3-codex", 1.75, 14, 0.175, 0},
	{openai, "gpt-5-codex", 1.25, 10, 0.125, 0},
	{openai, "gpt-5-mini", 0.25, 2, 0.025, 0},
	{openai, "gpt-4.1", 2, 8, 0.50, 0},
	{openai, "gpt-4.1-mini", 0.40, 1.60, 0, 0},

	{google, "gemini-3.8-flash", 1.50, 7.50, 0, 0},
	{google, "gemini-3.5-flash", 1.50, 9, 0.15, 0},
	{google, "gemini-3.5-flash-lite", 0.30, 2.50, 0, 0},
	{google, "gemini-3.1-pro-preview", 2, 12, 0.20, 0},
	{google, "gemini-2.5-pro", 1.25, 10, 0, 0},
	{google, "gemini-2.5-flash", 0.30, 2.50, 0, 0},
}
