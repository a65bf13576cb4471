package codex

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

// NewSmall makes a Small of what the environment says: OPENAI_API_KEY and, if
// they are set, OPENAI_BASE_URL and OPENAI_SMALL_MODEL. Without a key there is
// none.
func NewSmall(getenv func(string) string) (*Small, error) {
	s := &Small{key: getenv("OPENAI_API_KEY"), model: getenv("OPENAI_SMALL_MODEL")}
	if s.key == "" {
		return nil, nil
	}
	if s.model == "" {
		s.model = "gpt-4.1-mini"
	}
	base := getenv("OPENAI_BASE_URL")
	if base == "" {
		base = "https://api.openai.com/v1"
	}
	var err error
	if s.address, err = post.Address(base, "/chat/completions"); err != nil {
		return nil, errors.New("OPENAI_BASE_URL is no address of a service")
	}
	return s, nil
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
	err := post.JSON(ctx, s.address, map[string]string{"Authorization": "Bearer " + s.key}, map[string]any{
		"model": s.model, "messages": []message{{"system", system}, {"user", text}},
	}, &answer)
	if err != nil {
		return "", err
	}
	if len(answer.Choices) == 0 || answer.Choices[0].Message.Content == "" {
		return "", errors.New("the model answered nothing")
	}
	return answer.Choices[0].Message.Content, nil
}
