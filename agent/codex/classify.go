package codex

import (
	"context"
	"errors"

	"coppice/internal/post"
)

// Small asks a small model of the agent's vendor short questions, over HTTP. It
// is safe for concurrent use.
type Small struct{ at *post.Service }

// NewSmall makes a Small of what the environment says under OPENAI. Without a key
// there is none.
func NewSmall(getenv func(string) string) (*Small, error) {
	at, err := post.FromEnv(getenv, "OPENAI", "https://api.openai.com/v1", "/chat/completions", "gpt-4.1-mini")
	if at == nil {
		return nil, err
	}
	return &Small{at}, nil
}

// Ask puts a question and returns the answer's text.
func (s *Small) Ask(ctx context.Context, system, text string) (string, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var answer struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
	err := post.JSON(ctx, s.at.Address, map[string]string{"Authorization": "Bearer " + s.at.Key}, map[string]any{
		"model": s.at.Model, "messages": []message{{"system", system}, {"user", text}},
	}, &answer)
	if err != nil {
		return "", err
	}
	if len(answer.Choices) == 0 || answer.Choices[0].Message.Content == "" {
		return "", errors.New("the model answered nothing")
	}
	return answer.Choices[0].Message.Content, nil
}
