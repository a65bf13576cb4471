package flow

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPlaceOf(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]Place{
		"lead":               {"", "lead", "lead", 0},
		"lead-2":             {"", "lead-2", "lead", 0},
		"w-lexer":            {"", "w-lexer", "w-lexer", 0},
		"7":                  {"", "7", "item", 0},
		"assess":             {"", "assess", "assess", 0},
		"c3/review-2":        {"Cycle 3", "review-2", "review", 0},
		"c3/review/repair-1": {"Cycle 3", "review/repair-1", "review", 0},
		"l1/r0/a":            {"Loop 1, round 1", "a", "round", 1},
		"l12/r9/b":           {"Loop 12, round 10", "b", "round", 2},
		"l1/verify/2":        {"Loop 1", "verify/2", "verify", 0},
		"l1/action":          {"Loop 1", "action", "action", 0},
		"2/l1/r1/b":          {"Item 2, loop 1, round 2", "b", "round", 2},
		"2/l1/r1/c":          {"Item 2, loop 1, round 2", "c", "c", 0},
		"then":               {"", "then", "then", 0},
		"":                   {"", "", "item", 0},
	} {
		if key == "" {
			want = Place{}
		}
		if got := PlaceOf(key); got != want {
			t.Errorf("%q is at %+v, want %+v", key, got, want)
		}
	}
}

func TestStatementOf(t *testing.T) {
	t.Parallel()
	for _, other := range []string{"", "null", "[]", `{"result":"no_issues","issues":[]}`, `{"verdict":"perhaps"}`} {
		if s := StatementOf(json.RawMessage(other)); s != nil {
			t.Errorf("%s is the statement %+v, want none", other, s)
		}
	}
	s := StatementOf(json.RawMessage(`{"verdict":"agree","summary":"Yes.","position":"` + strings.Repeat("é", mostStated) + `","changed":""}`))
	if s == nil || s.Verdict != "agree" || s.Summary != "Yes." || len(s.Position) > mostStated+100 || !strings.HasPrefix(s.Position, "éé") || s.Changed != "" {
		t.Fatalf("the statement is %+v", s)
	}
	if got := (Statement{"partial", "Almost.", "Because.", "The cost."}).Text(); got != "partial: Almost.\n\nBecause.\n\nChanged: The cost." {
		t.Errorf("it says %q", got)
	}
}
