package coppice

import (
	"strings"
	"testing"
	"time"
)

// The number of an option means that option, whatever the kind of the question.
func TestChosen(t *testing.T) {
	t.Parallel()
	plain := Question{Options: []string{"JSON", "Text", "10"}}
	several := Question{Options: []string{"a", "b", "c"}, Several: true}
	asks := Question{Kind: QuestionPermission, Options: []string{AnswerAllow, AnswerAllowAlways, AnswerDeny, AnswerDenyAlways}}
	for _, c := range []struct {
		q          Question
		text, want string
	}{
		{plain, "2", "Text"},
		{plain, " 1 \n", "JSON"},
		{plain, "Text", "Text"},
		{plain, "4", "4"},
		{plain, "10", "10"},
		{plain, "0", "0"},
		{plain, "-1", "-1"},
		{plain, "1, 2", "1, 2"},
		{plain, "2 spaces", "2 spaces"},
		{Question{}, "2", "2"},
		{several, "1,3", "a, c"},
		{several, "3 1", "c, a"},
		{several, "2", "b"},
		{several, "2,2", "b"},
		{several, "1, 4", "1, 4"},
		{several, "a and 2", "a and 2"},
		{asks, "2", AnswerAllowAlways},
		{asks, "3", AnswerDeny},
		{asks, "deny because 2 is enough", "deny because 2 is enough"},
	} {
		if got, err := c.q.Chosen(c.text); err != nil || got != c.want {
			t.Errorf("%q to %q is %q (%v), want %q", c.text, c.q.Options, got, err, c.want)
		}
	}
	if got, err := asks.Chosen("5"); ErrorCode(err) != EInvalid || Public(err).Fix == "" {
		t.Errorf("a number that a permission question does not have: %q, %v", got, err)
	}
}

func TestUnanswered(t *testing.T) {
	t.Parallel()
	if text := (Question{}).Unanswered(30 * time.Minute); !strings.HasPrefix(text, NobodyAnswered+"30m") || !strings.Contains(text, "best judgement") {
		t.Errorf("%q", text)
	}
	p := ParsePermission(Question{Kind: QuestionPermission}.Unanswered(time.Hour))
	if p.Allow || p.Always || !strings.HasPrefix(p.Why, NobodyAnswered+"1h") {
		t.Errorf("a permission that nobody gave: %+v", p)
	}
}
