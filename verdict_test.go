package coppice

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseVerdict(t *testing.T) {
	t.Parallel()
	two := []string{"the page opens", "the list is sorted"}
	for name, c := range map[string]struct {
		words string
		steps []string
		want  string // a letter a step: P or F
	}{
		"lines":                  {"STEP 1: PASS it opens\nSTEP 2: FAIL 3 before 2\n", two, "PF"},
		"in any decoration":      {"- **Step 1:** PASS — it opens\n> `STEP 2`: passed.", two, "PP"},
		"a table":                {"| Step 1 | PASS | fine |\n| Step 2 | FAIL | no |", two, "PF"},
		"silent":                 {"", two, "FF"},
		"all is well":            {"All steps pass. VERDICT: PASS", two, "FF"},
		"a missing step":         {"STEP 2: PASS", two, "FP"},
		"an unknown step":        {"STEP 1: PASS\nSTEP 2: PASS\nSTEP 3: FAIL", two, "PP"},
		"fail beats pass":        {"STEP 1: FAIL\nSTEP 1: PASS\nSTEP 2: PASS", two, "FP"},
		"quoting the format":     {"I answer STEP n: PASS|FAIL.\nSTEP 1: PASS\nSTEP 2: PASS", two, "PP"},
		"in the middle of talk":  {"so STEP 1: PASS and STEP 2: PASS", two, "FF"},
		"JSON":                   {`{"steps":[{"n":1,"pass":true},{"n":2,"pass":false,"evidence":"no"}]}`, two, "PF"},
		"JSON in a fence":        {"Here:\n```json\n{\"steps\": [{\"pass\": true}, {\"pass\": true}], \"summary\": \"ok\"}\n```\n", two, "PP"},
		"JSON among other JSON":  {`{"a":{"b":1}} {"steps":[{"n":2,"pass":true},{"n":1,"pass":true}]} {"c":2}`, two, "PP"},
		"JSON with odd steps":    {`{"steps":["PASS",{"n":2,"pass":"yes"}]}`, two, "FF"},
		"JSON without steps":     {`{"steps":[]} STEP 1: PASS`, two, "FF"},
		"JSON beats lines":       {"STEP 1: PASS\nSTEP 2: PASS\n" + `{"steps":[{"n":1,"pass":true},{"n":2,"pass":false}]}`, two, "PF"},
		"JSON says both":         {`{"steps":[{"n":1,"pass":false},{"n":1,"pass":true},{"n":2,"pass":true}]}`, two, "FP"},
		"no steps asked for":     {"STEP 1: PASS it works", nil, "P"},
		"no steps, no word":      {"looks good", nil, "F"},
		"a huge number":          {"STEP 99999999999999999999: PASS\nSTEP 1: PASS", nil, "P"},
		"passing is not passed?": {"STEP 1: PASSING", nil, "P"},
		"password":               {"STEP 1: PASSWORD accepted", nil, "F"},
	} {
		v := ParseVerdict(c.words, c.steps)
		var got strings.Builder
		for i, s := range v.Steps {
			got.WriteString(map[bool]string{true: "P", false: "F"}[s.Pass])
			if s.N != i+1 || s.Text == "" {
				t.Errorf("%s: step %+v", name, s)
			}
		}
		if got.String() != c.want || v.Pass() != !strings.Contains(c.want, "F") {
			t.Errorf("%s: %s, want %s: %+v", name, got.String(), c.want, v)
		}
	}
	if (Verdict{}).Pass() {
		t.Error("nothing passes")
	}
}

// A verdict that is written and parsed has the same passes and failures.
func TestVerdictReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "steps")
		v := Verdict{}
		var steps []string
		for i := range n {
			steps = append(steps, "step")
			v.Steps = append(v.Steps, StepVerdict{N: i + 1, Text: "step", Pass: rapid.Bool().Draw(t, "pass"), Evidence: rapid.StringMatching(`[a-z ]{0,10}`).Draw(t, "evidence")})
		}
		got := ParseVerdict(v.String(), steps)
		for i := range steps {
			if got.Steps[i].Pass != v.Steps[i].Pass {
				t.Fatalf("%s became %+v", v, got)
			}
		}
	})
}

func FuzzParseVerdict(f *testing.F) {
	f.Add("STEP 1: PASS", 1)
	f.Add(`{"steps":[{"n":1,"pass":true}]}`, 2)
	f.Add("{{{{{{{{", 3)
	f.Fuzz(func(t *testing.T, words string, n int) {
		steps := make([]string, max(0, n%20))
		v := ParseVerdict(words, steps)
		if len(v.Steps) != max(1, len(steps)) {
			t.Fatalf("%d steps of %d", len(v.Steps), len(steps))
		}
	})
}
