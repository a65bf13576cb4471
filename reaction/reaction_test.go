package reaction_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/reaction"
)

// facts are the facts of an ordinary event.
func facts(event coppice.ReactionEvent) reaction.Facts {
	return reaction.Facts{
		Event: event, Key: "app-4/" + string(event), Task: "app-4", Title: "Add a login page", Category: "web", Labels: []string{"ui", "q3"},
		Number: 12, URL: "https://forge.example/team/app/pulls/12", Branch: "coppice/app-4", Base: "main",
		Head: "9d2e1f00aa31c2b477d09be1a4c8a5f5d0c1e2f3", Author: "ada", Team: []string{"ada", "grace"},
		Label: "needs-tests", Text: "FAIL TestLogin\nlogin_test.go:12: want 200, got 500", Checks: []string{"unit", "lint"}, Age: 12*time.Minute + 30*time.Second,
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event coppice.ReactionEvent
		text  string
		want  bool
	}{
		{coppice.OnLabel, `label == "needs-tests" && author in team`, true},
		{coppice.OnLabel, `label == 'needs-tests'`, true},
		{coppice.OnLabel, `label == "other"`, false},
		{coppice.OnLabel, `author not in team`, false},
		{coppice.OnLabel, `label in ["a", "needs-tests"]`, true},
		{coppice.OnLabel, ``, true},
		{coppice.OnCIFailed, `"lint" in checks && !draft`, true},
		{coppice.OnCIFailed, `len(checks) > 2`, false},
		{coppice.OnCIFailed, `text contains "TestLogin" and not (text matches "(?i)timeout")`, true},
		{coppice.OnCIFailed, `minutes >= 12 and minutes < 13`, true},
		{coppice.OnCIFailed, `number == 12 && base == "main" && branch startsWith "coppice/" && head endsWith "e2f3"`, true},
		{coppice.OnComment, `bot || lower(author) == "ADA"`, false},
		{coppice.OnTaskFailed, `category == "web" && "q3" in labels && task == "app-4" && trim(title) != ""`, true},
		{coppice.OnAllComplete, `minutes > 100`, false},
	} {
		got, err := reaction.Compile(c.event, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if holds, err := got.Match(facts(c.event)); err != nil || holds != c.want {
			t.Errorf("%s: %v, %v; want %v", c.text, holds, err, c.want)
		}
		if _, err := got.Match(reaction.Facts{}); err != nil {
			t.Errorf("%s, without facts: %v", c.text, err)
		}
	}
}

func TestRefusedConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event  coppice.ReactionEvent
		text   string
		column int // 0 if the error has no place
		says   string
	}{
		{coppice.OnLabel, `lable == "a"`, 1, `did you mean "label"?`},
		{coppice.OnLabel, `draft && "lint" in checks`, 20, `label-added has no field "checks"`},
		{coppice.OnMerged, `text == ""`, 1, "no field"},
		{coppice.OnLabel, `draft && number == "a"`, 17, "mismatched types int and string"},
		{coppice.OnLabel, `label`, 1, "not true or false, it is text"},
		{coppice.OnLabel, `team`, 1, "it is a list"},
		{coppice.OnLabel, `number`, 1, "it is a number"},
		{coppice.OnLabel, `author in`, 9, "unexpected token"},
		{coppice.OnLabel, `label == "a`, 12, "literal not terminated"},
		{coppice.OnLabel, `label = "a"`, 7, ""},
		{coppice.OnLabel, `5 in team`, 3, ""},
		{coppice.OnLabel, `number in 1..1000000`, 12, "operator .."},
		{coppice.OnLabel, `label + label == "aa"`, 7, "operator +"},
		{coppice.OnLabel, `any(team, # == "a")`, 1, `no function "any"`},
		{coppice.OnLabel, `len(filter(team, true)) > 0`, 5, `no function "filter"`},
		{coppice.OnLabel, `repeat(label, 1000000) == ""`, 1, `no function "repeat"`},
		{coppice.OnLabel, `now() == label`, 1, "no function"},
		{coppice.OnLabel, `f(label)`, 1, ""},
		{coppice.OnLabel, `label matches author`, 7, "text in quotes"},
		{coppice.OnLabel, `label matches "("`, 7, "regular expression"},
		{coppice.OnLabel, `label matches "(a{100}){10}"`, 7, "too large"},
		{coppice.OnLabel, `label matches "a{300}" || author matches "a{300}"`, 34, "too large"},
		{coppice.OnLabel, `team[0] == "a"`, 5, "only compare fields"},
		{coppice.OnLabel, `label?.x == 1`, 0, ""},
		{coppice.OnLabel, `let x = label; x == "a"`, 5, "only compare fields"},
		{coppice.OnLabel, `draft ? bot : draft`, 19, "only compare fields"},
		{coppice.OnLabel, `label == nil`, 10, "only compare fields"},
		{coppice.OnLabel, `$env == nil`, 0, ""},
		{coppice.OnLabel, "draft ||\n  lable == \"a\"", 3, "line 2, column 3"},
		{coppice.OnLabel, strings.Repeat("draft || ", 150) + "draft", 0, "1000 are allowed"},
		{coppice.OnLabel, strings.Repeat("!", 400) + "draft", 0, "parts"},
		{"landed", "", 0, "there is no event"},
	} {
		_, err := reaction.Compile(c.event, c.text)
		var e *coppice.Error
		if !errors.As(err, &e) || e.Code != coppice.EInvalid || e.Fix == "" || !strings.Contains(e.Cause, c.says) {
			t.Errorf("%s: %v (%q)", c.text, err, c.says)
			continue
		}
		var at *reaction.Mistake
		if errors.As(err, &at) && c.column != 0 && at.Column != c.column || !errors.As(err, &at) && c.column != 0 {
			t.Errorf("%s: %v, want column %d: %v", c.text, at, c.column, err)
		}
	}
}
