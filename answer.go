package coppice

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Answer is what a person means who answers a permission question.
type Answer struct {
	Allow  bool
	Always bool   // the project remembers it
	Why    string // the reason of a refusal; empty when the person gives none
}

// ParseAnswer reads the answer to a permission question: allow or deny, once or
// always, and the reason of a refusal. Case and blanks around the answer do not
// matter. A text that is none of the answers is a refusal, and the whole text is
// its reason. ParseAnswer is the only reader of such answers.
func ParseAnswer(text string) Answer {
	text = strings.TrimSpace(text)
	switch asciiLower(text) {
	case AnswerAllow, "yes", "y", "ok":
		return Answer{Allow: true}
	case AnswerAllowAlways:
		return Answer{Allow: true, Always: true}
	case "no", "n":
		return Answer{}
	}
	if rest, ok := cutWords(text, AnswerDenyAlways); ok {
		return Answer{Always: true, Why: reason(rest)}
	}
	if rest, ok := cutWords(text, AnswerDeny); ok {
		return Answer{Why: reason(rest)}
	}
	return Answer{Why: reason(text)}
}

// reason is the reason in what follows a refusal.
func reason(rest string) string {
	rest = strings.TrimLeft(rest, " :,;.-\t\r\n")
	if after, ok := cutWords(rest, "because"); ok && strings.HasPrefix(after, " ") {
		return strings.TrimSpace(after)
	}
	return rest
}

// cutWords cuts words off the front of a text. The words must not go on there.
func cutWords(text, words string) (rest string, ok bool) {
	if len(text) < len(words) || asciiLower(text[:len(words)]) != words {
		return text, false
	}
	rest = text[len(words):]
	r, _ := utf8.DecodeRuneInString(rest)
	return rest, rest == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// asciiLower lowers the letters A to Z. A letter of another script that only
// looks like one of them, or folds to one, is not that letter.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
