package reaction_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/reaction"
)

var update = flag.Bool("update", false, "write the golden files")

// The default messages of all events, to an agent and to a person.
func TestDefaultMessages(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, e := range reaction.Events {
		for _, do := range []string{coppice.ReactSend, coppice.ReactNotify} {
			fmt.Fprintf(&b, "=== %s, %s\n%s\n\n", e.Name, do, reaction.Message(e.Name, coppice.Reaction{Do: do}, facts(e.Name)))
		}
	}
	const path = "testdata/messages.golden"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the messages differ from %s; run the test with -update and read the diff:\n%s", path, b.String())
	}
}

// The table of events is complete and valid: each event of the domain has default
// rules that could be in a configuration.
func TestEvents(t *testing.T) {
	t.Parallel()
	if len(reaction.Events) != 15 {
		t.Errorf("%d events", len(reaction.Events))
	}
	for _, e := range reaction.Events {
		if found, ok := reaction.Find(e.Name); !ok || found.Name != e.Name || e.Help == "" || e.Priority == "" || len(e.Rules) == 0 || len(e.Fields) == 0 {
			t.Errorf("%s is not complete: %+v", e.Name, e)
		}
		if e.Text != "" && e.Fields[len(e.Fields)-1].Name != "text" && e.Name != coppice.OnCIFailed {
			t.Errorf("%s has a text that conditions cannot read", e.Name)
		}
		for _, text := range []string{e.Message, e.Notice} {
			if err := reaction.CheckMessage(e.Name, text); err != nil || text == "" {
				t.Errorf("%s: %q: %v", e.Name, text, err)
			}
		}
		for _, r := range e.Rules {
			if !strings.Contains(strings.Join(e.Actions, " "), r.Do) {
				t.Errorf("%s: its own default %s is not allowed", e.Name, r.Do)
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	const m = coppice.Duration(time.Minute)
	for event, want := range map[coppice.ReactionEvent]coppice.Reaction{
		coppice.OnCIFailed:      {Do: "send-to-agent", Retries: 2, Priority: "action"},
		coppice.OnChanges:       {Do: "send-to-agent", Retries: 10, EscalateAfter: 30 * m, Priority: "action"},
		coppice.OnComment:       {Do: "nothing", Priority: "info"},
		coppice.OnBotComment:    {Do: "send-to-agent", Retries: 2, EscalateAfter: 30 * m, Priority: "action"},
		coppice.OnConflicts:     {Do: "send-to-agent", Retries: 2, EscalateAfter: 15 * m, Priority: "action"},
		coppice.OnApprovedGreen: {Do: "notify", Priority: "action"},
		coppice.OnMerged:        {Do: "notify", Priority: "info"},
		coppice.OnClosed:        {Do: "notify", Priority: "action"},
		coppice.OnLabel:         {Do: "nothing", Priority: "info"},
		coppice.OnIdle:          {Do: "notify", Priority: "urgent", Threshold: 10 * m},
		coppice.OnStuck:         {Do: "notify", Priority: "urgent", Threshold: 10 * m},
		coppice.OnNeedsInput:    {Do: "notify", Priority: "urgent"},
		coppice.OnExited:        {Do: "notify", Priority: "urgent"},
		coppice.OnTaskFailed:    {Do: "notify", Priority: "urgent"},
		coppice.OnAllComplete:   {Do: "notify", Priority: "info"},
	} {
		got, i, ok, err := reaction.Select(event, nil, facts(event))
		if err != nil || !ok || i != 0 || got != want {
			t.Errorf("%s: %+v, %d, %v, %v; want %+v", event, got, i, ok, err, want)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	rules := coppice.Reactions{
		coppice.OnLabel: {
			{If: `label == "other"`, Do: coppice.ReactMerge},
			{If: `author in team`, Do: coppice.ReactTask, Priority: coppice.PriorityWarning},
			{Do: coppice.ReactNotify},
		},
		coppice.OnComment:    {{If: `bot`, Do: coppice.ReactNotify}},
		coppice.OnCIFailed:   {{If: `checks`, Do: coppice.ReactNotify}},
		coppice.OnTaskFailed: {},
		coppice.OnIdle:       {{Do: coppice.ReactSend}},
	}
	for _, c := range []struct {
		event coppice.ReactionEvent
		do    string
		index int
		bad   bool
	}{
		{event: coppice.OnLabel, do: coppice.ReactTask, index: 1},
		{event: coppice.OnComment},    // no rule holds, and the defaults do not apply
		{event: coppice.OnTaskFailed}, // likewise: the policy names the event
		{event: coppice.OnCIFailed, bad: true},
		{event: "landed"},
		{event: coppice.OnMerged, do: coppice.ReactNotify},
	} {
		got, i, ok, err := reaction.Select(c.event, rules, facts(c.event))
		if (err != nil) != c.bad || ok != (c.do != "") || got.Do != c.do || i != c.index {
			t.Errorf("%s: %+v, %d, %v, %v", c.event, got, i, ok, err)
		}
	}
	if got, _, _, _ := reaction.Select(coppice.OnLabel, rules, facts(coppice.OnLabel)); got.Priority != coppice.PriorityWarning {
		t.Errorf("the priority of the rule is %s", got.Priority)
	}
	if got, _, _, _ := reaction.Select(coppice.OnIdle, rules, facts(coppice.OnIdle)); got.Threshold.D() != 10*time.Minute || rules[coppice.OnIdle][0].Threshold != 0 {
		t.Errorf("the threshold is %s, and that of the policy %s", got.Threshold.D(), rules[coppice.OnIdle][0].Threshold.D())
	}
}

func TestRefusedMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event     coppice.ReactionEvent
		text      string
		line, col int
		says      string
	}{
		{coppice.OnCIFailed, "Fix it.\n  {{erors}}", 2, 3, "did you mean {{errors}}?"},
		{coppice.OnCIFailed, "{{comments}}", 1, 1, "ci-failed has no value"},
		{coppice.OnCIFailed, "{{errors}} {{ errors }}", 1, 12, "twice"},
		{coppice.OnCIFailed, "{{.Errors}}", 1, 1, "no value"},
		{coppice.OnCIFailed, "é {{errors", 1, 3, "no end"},
		{coppice.OnCIFailed, "{{label}}", 1, 1, "no value"},
		{coppice.OnIdle, "{{branch}}", 1, 1, "no value"},
		{coppice.OnAllComplete, "{{title}}", 1, 1, "no value"},
		{coppice.OnCIFailed, strings.Repeat("a", 4097), 0, 0, "4096"},
		{coppice.OnCIFailed, strings.Repeat("{{title}}", 51), 0, 0, "more than 50"},
		{"landed", "", 0, 0, "no event"},
	} {
		err := reaction.CheckMessage(c.event, c.text)
		var e *coppice.Error
		if !errors.As(err, &e) || e.Code != coppice.EInvalid || e.Fix == "" || !strings.Contains(e.Cause, c.says) {
			t.Errorf("%.40s: %v", c.text, err)
			continue
		}
		if at := (&reaction.Mistake{}); c.line > 0 && (!errors.As(err, &at) || at.Line != c.line || at.Column != c.col) {
			t.Errorf("%s: at %v, want %d:%d", c.text, at, c.line, c.col)
		}
	}
	for _, text := range []string{"", "Fix it: {{ errors }}", "{ {title} }", "{{title}} on {{branch}} by {{author}}: {{head}} {{base}} {{url}} {{task}}"} {
		if err := reaction.CheckMessage(coppice.OnCIFailed, text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPassesOutside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event coppice.ReactionEvent
		rule  coppice.Reaction
		want  bool
	}{
		{coppice.OnCIFailed, coppice.Reaction{Do: coppice.ReactSend}, true},
		{coppice.OnCIFailed, coppice.Reaction{Do: coppice.ReactTask}, true},
		{coppice.OnCIFailed, coppice.Reaction{Do: coppice.ReactNotify}, false},
		{coppice.OnCIFailed, coppice.Reaction{Do: coppice.ReactSend, Message: "CI failed at {{head}}."}, false},
		{coppice.OnCIFailed, coppice.Reaction{Do: coppice.ReactSend, Message: "{{ branch }}"}, true},
		{coppice.OnChanges, coppice.Reaction{Do: coppice.ReactSend}, true},
		{coppice.OnLabel, coppice.Reaction{Do: coppice.ReactSend}, true},
		{coppice.OnConflicts, coppice.Reaction{Do: coppice.ReactSend}, false},
		{coppice.OnMerged, coppice.Reaction{Do: coppice.ReactTask, Message: "{{author}}"}, true},
		{coppice.OnTaskFailed, coppice.Reaction{Do: coppice.ReactSend}, false},
	} {
		if got := reaction.PassesOutside(c.event, c.rule); got != c.want {
			t.Errorf("%s %+v: %v", c.event, c.rule, got)
		}
	}
}

var fenced = regexp.MustCompile(`(?s)<(data-[0-9a-f]{16})>`)

// outsideFences returns the message without what is between marks.
func outsideFences(t *rapid.T, text string) string {
	rest := ""
	for {
		at := fenced.FindStringSubmatchIndex(text)
		if at == nil {
			return rest + text
		}
		end := "</" + text[at[2]:at[3]] + ">"
		i := strings.Index(text[at[1]:], end)
		if i < 0 {
			t.Fatalf("no end of a fence: %q", text)
		}
		rest, text = rest+text[:at[0]], text[at[1]+i+len(end):]
	}
}

// In a message to an agent, text that others choose is always between marks. It can
// neither close its fence nor use a value of the template.
func TestOutsideTextIsMarked(t *testing.T) {
	t.Parallel()
	const inject = "INJECTED"
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom(reaction.Events).Draw(t, "event")
		part := rapid.SampledFrom([]string{inject, "{{title}}", "}}", "\n", "</data-0123456789abcdef>", "<data-0123456789abcdef>", "\x1b[31m", "\u202e", "x ", "{{", "é"})
		hostile := func(name string) string { return strings.Join(rapid.SliceOf(part).Draw(t, name), "") + inject }
		f := facts(e.Name)
		f.Title, f.Text, f.Author, f.Branch, f.Label, f.Head = "THE TITLE", hostile("text"), hostile("author"), hostile("branch"), hostile("label"), hostile("head")
		if rapid.Bool().Draw(t, "nested") {
			f.Text += reaction.Message(e.Name, coppice.Reaction{Do: coppice.ReactSend}, f)
		}
		r := coppice.Reaction{Do: rapid.SampledFrom([]string{coppice.ReactSend, coppice.ReactTask}).Draw(t, "do")}
		outside := false
		if names := e.Values(); len(names) > 0 {
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, len(names), rapid.ID).Draw(t, "own") {
				r.Message += "{{" + name + "}} "
				outside = outside || name == "author" || name == "branch" || name == "label" || name == e.Text && e.Outside
			}
		}
		got := reaction.Message(e.Name, r, f)
		if got != reaction.Message(e.Name, r, f) {
			t.Fatal("the same facts have two messages")
		}
		if rest := outsideFences(t, got); strings.Contains(rest, inject) || strings.ContainsAny(got, "\x1b\u202e") {
			t.Fatalf("outside of the fences: %q\n%q", rest, got)
		}
		if reaction.PassesOutside(e.Name, r) != outside {
			t.Fatalf("passes text from outside: %v\n%s", !outside, got)
		}
	})
}

// A long text keeps its start and its end.
func TestLongText(t *testing.T) {
	t.Parallel()
	f := facts(coppice.OnCIFailed)
	f.Text, f.Title = "START"+strings.Repeat("é", 1<<20)+"END", strings.Repeat("t", 1000)
	for _, do := range []string{coppice.ReactSend, coppice.ReactNotify} {
		got := reaction.Message(coppice.OnCIFailed, coppice.Reaction{Do: do, Message: "{{title}} {{errors}}"}, f)
		if len(got) > 40<<10 || !strings.Contains(got, "START") || !strings.Contains(got, "END") || !strings.Contains(got, "bytes are left out") || strings.Contains(got, "\uFFFD") {
			t.Errorf("%d bytes: %.100s", len(got), got)
		}
	}
}

// What a person reads has no marks.
func TestNotice(t *testing.T) {
	t.Parallel()
	got := reaction.Message(coppice.OnLabel, coppice.Reaction{Do: coppice.ReactNotify, Message: "{{label}} by {{author}} on {{branch}}"}, facts(coppice.OnLabel))
	if got != "needs-tests by ada on coppice/app-4" {
		t.Errorf("%q", got)
	}
}

// No text makes Compile or Match panic, and what is accepted ends.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{`label == "a" && author in team`, `len(checks) > 2`, `text matches "a+"`, `1..9`, `any(team, # == "a")`, `[[[`, `!!!draft`, `"a" in {a: 1}`, "let", `$env`, `a?.b ?? c`, "`x`", `1 < 2 < 3`, `not in`, `b"a"`, `-1 ** 99`, `team | filter(true)`} {
		f.Add(0, s)
	}
	f.Fuzz(func(t *testing.T, n int, text string) {
		e := reaction.Events[(n%len(reaction.Events)+len(reaction.Events))%len(reaction.Events)]
		c, err := reaction.Compile(e.Name, text)
		if err != nil {
			if coppice.Public(err).Code != coppice.EInvalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if _, err := c.Match(facts(e.Name)); err != nil {
			t.Fatalf("%q compiles and fails: %v", text, err)
		}
	})
}

func FuzzMessage(f *testing.F) {
	for _, s := range []string{"{{errors}}", "{{ title }}}}", "{{{{", "{{}}", "é{{x"} {
		f.Add(0, s, s)
	}
	f.Fuzz(func(t *testing.T, n int, template, text string) {
		e := reaction.Events[(n%len(reaction.Events)+len(reaction.Events))%len(reaction.Events)]
		if reaction.CheckMessage(e.Name, template) != nil {
			return
		}
		fs := facts(e.Name)
		fs.Text, fs.Author, fs.Label = text, text, text
		if got := reaction.Message(e.Name, coppice.Reaction{Do: coppice.ReactSend, Message: template}, fs); len(got) > 200<<10 {
			t.Fatalf("%d bytes", len(got))
		}
	})
}
