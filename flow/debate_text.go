package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coppice"
)

// The verdicts of a statement, and the results of a review.
const (
	agree     = "agree"
	disagree  = "disagree"
	partial   = "partial"
	noIssues  = "no_issues"
	hasIssues = "has_issues"
)

// Statement is what a side answers in a round.
type Statement struct {
	Verdict  string `json:"verdict"`
	Summary  string `json:"summary"`
	Position string `json:"position"`
	Changed  string `json:"changed"`
}

// read reads an answer. It reports whether the answer has a valid verdict.
func (s *Statement) read(answer json.RawMessage) bool {
	return json.Unmarshal(answer, s) == nil && slices.Contains([]string{agree, disagree, partial}, s.Verdict)
}

func (s Statement) String() string {
	text := fmt.Sprintf("Verdict: %s\n\nSummary: %s\n\nPosition: %s", s.Verdict, clip(s.Summary, mostSummary), clip(s.Position, mostPosition))
	if s.Changed != "" {
		text += "\n\nChanged: " + clip(s.Changed, mostSummary)
	}
	return text
}

// mostStated limits each text of a statement that people see, in bytes.
const mostStated = 4 << 10

// StatementOf reads the answer of a step, for people. It returns nil for any other
// answer.
func StatementOf(answer json.RawMessage) *Statement {
	var s Statement
	if !s.read(answer) {
		return nil
	}
	return &Statement{s.Verdict, clip(s.Summary, mostStated), clip(s.Position, mostStated), clip(s.Changed, mostStated)}
}

// Text returns the statement for people.
func (s Statement) Text() string {
	text := s.Verdict + ": " + s.Summary
	if s.Position != "" {
		text += "\n\n" + s.Position
	}
	if s.Changed != "" {
		text += "\n\nChanged: " + s.Changed
	}
	return text
}

// round has the statements of both sides.
type round [2]Statement

func (r round) agree() bool { return r[0].Verdict == agree && r[1].Verdict == agree }

// review is what a side answers that verifies an action.
type review struct {
	Result string   `json:"result"`
	Issues []string `json:"issues"`
}

func (r *review) read(answer json.RawMessage) bool {
	if json.Unmarshal(answer, r) != nil {
		return false
	}
	if r.Result == hasIssues && len(r.Issues) == 0 {
		r.Issues = []string{"The verification names no issue."}
	}
	return r.Result == noIssues || r.Result == hasIssues
}

// The schemas of answers. Every field is required, because some agents accept no other
// schema.
var (
	statementSchema = schema(map[string]any{
		"verdict":  map[string]any{"type": "string", "enum": []string{agree, disagree, partial}},
		"summary":  map[string]any{"type": "string", "description": "the view in at most three sentences"},
		"position": map[string]any{"type": "string", "description": "the whole view, with reasons and evidence"},
		"changed":  map[string]any{"type": "string", "description": "what changed the view; empty if nothing did"},
	})
	reviewSchema = schema(map[string]any{
		"result": map[string]any{"type": "string", "enum": []string{noIssues, hasIssues}},
		"issues": map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
	})
)

func schema(properties map[string]any) json.RawMessage {
	var names []string
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return coppice.Raw(map[string]any{"type": "object", "additionalProperties": false, "required": names, "properties": properties})
}

// headline says how the rounds of the loop ended.
func (d *debate) headline() string {
	how := "Disagreement"
	if d.said[len(d.said)-1].agree() {
		how = "Consensus"
	}
	return how + " after " + count(len(d.said), "round")
}

// markdown writes the summary of the loop's rounds: how they ended, the final position
// of each side, and the verdicts.
func (d *debate) markdown(headline string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", headline)
	if d.spec.Loops > 1 {
		fmt.Fprintf(&b, "Loop %d of %d.\n\n", d.loop, d.spec.Loops)
	}
	for side, s := range d.said[len(d.said)-1] {
		fmt.Fprintf(&b, "## %s (%s)\n\n%s\nPosition:\n\n%s\n", d.side(side), s.Verdict, clip(quoted(s.Summary), mostSummary), clip(quoted(s.Position), mostPosition))
	}
	fmt.Fprintf(&b, "## Rounds\n\n| Round | %s | %s |\n| --- | --- | --- |\n", d.side(0), d.side(1))
	for n, r := range d.said {
		fmt.Fprintf(&b, "| %d |", n+1)
		for _, s := range r {
			fmt.Fprintf(&b, " %s |", strings.TrimSuffix(s.Verdict+": "+cell(s.Changed), ": "))
		}
		b.WriteByte('\n')
	}
	return clip(b.String(), coppice.MaxDocument)
}

// result is the result of a debate that ends: its summary, and the issues that are open.
func (d *debate) result() string {
	if len(d.open) == 0 {
		return d.summary
	}
	return fmt.Sprintf("%s\n## Open issues\n\n%s", d.summary, clip(list(d.open), coppice.MaxMessage/4))
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// quoted writes a text of an agent as a quotation in Markdown, so that it cannot look
// like a part of the document.
func quoted(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(coppice.Printable(text)) + "\n") {
		b.WriteString("> " + line)
	}
	return b.String()
}

// list writes texts as items of a list in Markdown.
func list(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(coppice.Printable(text)), "\n", "\n  ") + "\n")
	}
	return b.String()
}

// mostCell limits a cell of a table, in characters.
const mostCell = 100

// cell writes the first line of a text as a cell of a table in Markdown.
func cell(text string) string {
	line := coppice.FirstLine(coppice.Printable(text))
	if runes := []rune(line); len(runes) > mostCell {
		line = string(runes[:mostCell-1]) + "…"
	}
	return strings.NewReplacer(`\`, `\\`, "|", `\|`).Replace(line)
}
