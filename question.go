package coppice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// NobodyAnswered starts the answer to a question that nobody has answered in
// time.
const NobodyAnswered = "Nobody answered in "

// Unanswered returns the answer to a question that nobody has answered in time.
func (q Question) Unanswered(after time.Duration) string {
	text, _ := Duration(after).MarshalText()
	if q.Kind == QuestionPermission {
		return fmt.Sprintf("%s %s%s.", AnswerDeny, NobodyAnswered, text)
	}
	return fmt.Sprintf("%s%s. Use your best judgement and say what you assumed. If you cannot continue without an answer, stop and say what you need to know.", NobodyAnswered, text)
}

// CallRef starts the Ref of a question that an agent asked with a tool. The tool
// delivers the answer, in place of a message to the agent.
const CallRef = "call:"

// ByCall reports whether the agent asked with a tool.
func (q Question) ByCall() bool { return strings.HasPrefix(q.Ref, CallRef) }

// Chosen returns the answer that a person means: the number of an option means
// that option. If several can be chosen, numbers separated by commas or blanks
// mean these options. Any other text is the answer itself.
func (q Question) Chosen(text string) (string, error) {
	parts := []string{strings.TrimSpace(text)}
	if q.Several {
		parts = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	}
	var chosen []string
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > len(q.Options) {
			if err == nil && q.Kind == QuestionPermission { // any other text would deny
				return "", Errorf(EInvalid, "there is no option %d", n).WithFix("answer with a number from 1 to %d, or with allow or deny", len(q.Options)).WithField("text")
			}
			return text, nil
		}
		if !slices.Contains(chosen, q.Options[n-1]) {
			chosen = append(chosen, q.Options[n-1])
		}
	}
	return strings.Join(chosen, ", "), nil
}
