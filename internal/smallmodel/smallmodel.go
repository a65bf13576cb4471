// Package smallmodel asks a small model of a vendor short questions, over HTTP.
package smallmodel

import (
	"context"
	"errors"
	"fmt"
)

// Model is a small model that can be asked. It is safe for concurrent use.
type Model struct {
	vendor  vendor
	address string
	key     string
	name    string
}

// vendor is how the models of one vendor are asked.
type vendor struct {
	env  string // what its variables begin with
	base string // the address, unless the environment names another one
	path string
	name string // the model, unless the environment names another one
	ask  func(ctx context.Context, m *Model, system, text string) (Answer, error)
}

// Answer is what a model answered, and what it read and wrote for that.
type Answer struct {
	Text  string
	Model string
	// Tokens. Input is what came from no cache.
	Input, Output, CacheRead, CacheWrite int64
}

// vendors are those that are known, the first choice first.
var vendors = []vendor{
	{"ANTHROPIC", "https://api.anthropic.com", "/v1/messages", "claude-haiku-4-5", askMessages},
	{"OPENAI", "https://api.openai.com/v1", "/chat/completions", "gpt-4.1-mini", askChat},
}

// FromEnv returns a model of the first vendor whose key is in the environment, or
// nil when there is none. A vendor's variables are NAME_API_KEY, and NAME_BASE_URL
// and NAME_SMALL_MODEL where they are set. The error names what is wrong with a
// vendor that was passed over.
func FromEnv(getenv func(string) string) (*Model, error) {
	var problems []error
	for _, v := range vendors {
		m := &Model{vendor: v, key: getenv(v.env + "_API_KEY"), name: first(getenv(v.env+"_SMALL_MODEL"), v.name)}
		if m.key == "" {
			continue
		}
		var err error
		if m.address, err = join(first(getenv(v.env+"_BASE_URL"), v.base), v.path); err == nil {
			return m, nil
		}
		problems = append(problems, fmt.Errorf("%s_BASE_URL: %w", v.env, err))
	}
	return nil, errors.Join(problems...)
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// Ask asks a question. An answer without a text is an error, but has its tokens.
func (m *Model) Ask(ctx context.Context, system, text string) (Answer, error) {
	answer, err := m.vendor.ask(ctx, m, system, text)
	answer.Model = m.name
	if err == nil && answer.Text == "" {
		err = errors.New("the model answered nothing")
	}
	return answer, err
}

// message is one message of a conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// mostTokens bounds an answer where a vendor wants a bound: a level for each of a
// few tasks.
const mostTokens = 1000

func askMessages(ctx context.Context, m *Model, system, text string) (Answer, error) {
	var answer struct {
		Content []struct{ Type, Text string }
		Usage   struct {
			Input      int64 `json:"input_tokens"`
			Output     int64 `json:"output_tokens"`
			CacheRead  int64 `json:"cache_read_input_tokens"`
			CacheWrite int64 `json:"cache_creation_input_tokens"`
		}
	}
	err := post(ctx, m.address, map[string]string{"X-Api-Key": m.key, "Anthropic-Version": "2023-06-01"}, map[string]any{
		"model": m.name, "max_tokens": mostTokens, "system": system, "messages": []message{{"user", text}},
	}, &answer)
	u := answer.Usage
	a := Answer{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	for _, part := range answer.Content {
		if part.Type == "text" {
			a.Text = part.Text
			break
		}
	}
	return a, err
}

func askChat(ctx context.Context, m *Model, system, text string) (Answer, error) {
	var answer struct {
		Choices []struct{ Message message }
		Usage   struct {
			Prompt     int64 `json:"prompt_tokens"`
			Completion int64 `json:"completion_tokens"`
			Details    struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	err := post(ctx, m.address, map[string]string{"Authorization": "Bearer " + m.key}, map[string]any{
		"model": m.name, "messages": []message{{"system", system}, {"user", text}},
	}, &answer)
	u := answer.Usage
	a := Answer{Input: max(u.Prompt-u.Details.Cached, 0), Output: u.Completion, CacheRead: u.Details.Cached}
	if len(answer.Choices) > 0 {
		a.Text = answer.Choices[0].Message.Content
	}
	return a, err
}
