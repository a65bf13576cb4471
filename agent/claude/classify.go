package claude

import (
	"context"
	"errors"

	"coppice/internal/post"
)

// Small asks a small model of the agent's vendor short questions, over HTTP. It
// is safe for concurrent use.
type Small struct {
	address string
	key     string
	model   string
}

// mostTokens bounds an answer: a level for each of a few tasks.
const mostTokens = 1000

// NewSmall makes a Small of what the environment says: ANTHROPIC_API_KEY and, if
// they are set, ANTHROPIC_BASE_URL and ANTHROPIC_SMALL_MODEL. Without a key there
// is none.
func NewSmall(getenv func(string) string) (*Small, error) {
	s := &Small{key: getenv("ANTHROPIC_API_KEY"), model: getenv("ANTHROPIC_SMALL_MODEL")}
	if s.key == "" {
		return nil, nil
	}
	if s.model == "" {
		s.model = "claude-haiku-4-5"
	}
	base := getenv("ANTHROPIC_BASE_URL")
	if base == "" {
		base = "https://api.anthropic.com"
	}
	var err error
	if s.address, err = post.Address(base, "/v1/messages"); err != nil {
		return nil, errors.New("ANTHROPIC_BASE_URL is no address of a service")
	}
	return s, nil
}

// Ask puts a question and returns the answer's text.
func (s *Small) Ask(ctx context.Context, system, text string) (string, error) {
	var answer struct {
		Content []block `json:"content"`
	}
	err := post.JSON(ctx, s.address, map[string]string{"X-Api-Key": s.key, "Anthropic-Version": "2023-06-01"}, map[string]any{
		"model": s.model, "max_tokens": mostTokens, "system": system, "messages": []userMessage{{Role: "user", Content: text}},
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
