package claude

import (
	"context"
	"errors"

	"coppice/internal/post"
)

// Small asks a small model of the agent's vendor short questions, over HTTP. It
// is safe for concurrent use.
type Small struct{ at *post.Service }

// mostTokens bounds an answer: a level for each of a few tasks.
const mostTokens = 1000

// NewSmall makes a Small of what the environment says under ANTHROPIC. Without a
// key there is none.
func NewSmall(getenv func(string) string) (*Small, error) {
	at, err := post.FromEnv(getenv, "ANTHROPIC", "https://api.anthropic.com", "/v1/messages", "claude-haiku-4-5")
	if at == nil {
		return nil, err
	}
	return &Small{at}, nil
}

// Ask puts a question and returns the answer's text.
func (s *Small) Ask(ctx context.Context, system, text string) (string, error) {
	var answer struct {
		Content []block `json:"content"`
	}
	err := post.JSON(ctx, s.at.Address, map[string]string{"X-Api-Key": s.at.Key, "Anthropic-Version": "2023-06-01"}, map[string]any{
		"model": s.at.Model, "max_tokens": mostTokens, "system": system, "messages": []userMessage{{Role: "user", Content: text}},
	}, &answer)
	if err != nil {
		return "", err
	}
	for _, b := range answer.Content {
		if b.Type == "text" {
			return b.Text, nil
		}
	}
	return "", errors.New("the model answered nothing")
}
