package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
)

func policy(def string, rules ...coppice.Rule) coppice.PermissionPolicy {
	return coppice.PermissionPolicy{Rules: rules, Default: def}
}

func rule(do, tool, match string) coppice.Rule {
	return coppice.Rule{Do: do, Tool: tool, Match: match}
}

func run(command string) Call {
	return Call{Name: "Shell", Kind: coppice.ToolRun, Command: command, Dir: "/repo"}
}

func edit(paths ...string) Call {
	return Call{Name: "Write", Kind: coppice.ToolEdit, Paths: paths, Dir: "/repo"}
}

func fetch(url string) Call { return Call{Name: "Fetch", Kind: coppice.ToolFetch, URL: url} }

func TestDecide(t *testing.T) {
	t.Parallel()
	push := policy("", rule("deny", "run", "git push*"))
	status := policy("ask", rule("allow", "run", "git status *"), rule("allow", "run", "git diff *"))
	for _, c := range []struct {
		name string
		p    coppice.PermissionPolicy
		c    Call
		want string
	}{
		{"nothing said", policy(""), run("rm -rf /"), "allow"},
		{"default ask", policy("ask"), run("ls"), "ask"},
		{"default deny", policy("deny"), edit("a"), "deny"},
		{"unknown word", policy("perhaps"), edit("a"), "deny"},
		{"every tool", policy("", rule("ask", "", "")), edit("a"), "ask"},
		{"by name", policy("", rule("deny", "Write", "")), edit("a"), "deny"},
		{"by wildcard", policy("", rule("deny", "mcp__*__drop", "")), Call{Name: "mcp__db__drop", Kind: coppice.ToolOther}, "deny"},
		{"another tool", policy("", rule("deny", "read", "")), edit("a"), "allow"},
		{"first wins", policy("", rule("allow", "edit", "docs/*"), rule("deny", "edit", "")), edit("docs/a.md"), "allow"},
		{"first wins, turned", policy("", rule("deny", "edit", ""), rule("allow", "edit", "docs/*")), edit("docs/a.md"), "deny"},
		{"no match without a subject", policy("", rule("deny", "other", "x*")), Call{Name: "T", Kind: coppice.ToolOther}, "allow"},
		{"star fits nothing too", policy("", rule("deny", "other", "*")), Call{Name: "T", Kind: coppice.ToolOther}, "deny"},

		{"command", push, run("git push origin main"), "deny"},
		{"compound", push, run("true && git push"), "deny"},
		{"semicolon", push, run("true;git push"), "deny"},
		{"pipe", push, run("yes | git push"), "deny"},
		{"background", push, run("true & git push"), "deny"},
		{"second line", push, run("true\ngit push"), "deny"},
		{"substitution", push, run(`echo "$(git push 2>&1)"`), "deny"},
		{"backticks", push, run("echo `git push`"), "deny"},
		{"process substitution", push, run("cat <(git push)"), "deny"},
		{"group", push, run("(cd x; git push)"), "deny"},
		{"braces", push, run("{ git push; }"), "deny"},
		{"blanks", push, run("git   push"), "deny"},
		{"variable before", push, run("A=1 B='x y' git push"), "deny"},
		{"env", push, run("env A=1 git push"), "deny"},
		{"if", push, run("if true; then git push; fi"), "deny"},
		{"in a here-document's substitution", push, run("cat <<EOF\n$(git push)\nEOF\n"), "deny"},
		{"behind a here-document", push, run("cat <<'EOF'\nx\nEOF\ngit push"), "deny"},
		{"shift is not a here-document", push, run("echo $((1<<2))\ngit push"), "deny"},
		{"comment with a quote", push, run("# don't\ngit push"), "deny"},
		{"open quote", push, run("echo 'x && git push"), "deny"},
		{"quoted", push, run(`git commit -m "then git push; done"`), "allow"},
		{"quoted operator", push, run(`git commit -m "x && git push"`), "allow"},
		{"in a here-document", push, run("git commit -F - <<'EOF'\ngit push\nEOF\n"), "allow"},
		{"message by here-document", push, run("git commit -m \"$(cat <<'EOF'\ngit push it\nEOF\n)\""), "allow"},
		{"comment", push, run("true # git push"), "allow"},

		{"allowed", status, run("git status"), "allow"},
		{"allowed with words", status, run("git status -s"), "allow"},
		{"another program", status, run("git statusx"), "ask"},
		{"allowed, both", status, run("git status && git diff --stat"), "allow"},
		{"allowed in part", status, run("git status && rm x"), "ask"},
		{"allowed in part, substitution", status, run("git status $(rm x)"), "ask"},
		{"variables are not allowed along", status, run("LD_PRELOAD=x git status"), "ask"},
		{"redirect", policy("ask", rule("allow", "run", "make *")), run("make 2>&1"), "allow"},
		{"whole line allowed", policy("ask", rule("allow", "run", "a && b")), run("a && b"), "allow"},
		{"whole line allowed, part denied before", policy("ask", rule("deny", "run", "b"), rule("allow", "run", "a && b")), run("a && b"), "deny"},
		{"whole line allowed, part denied behind", policy("ask", rule("allow", "run", "a && b"), rule("deny", "run", "b")), run("a && b"), "allow"},
		{"star for single commands", policy("", rule("allow", "run", "git *"), rule("ask", "", "*")), run("git a && git b"), "allow"},
		{"rule for a line", policy("", rule("deny", "run", "curl * | sh")), run("curl http://x | sh"), "deny"},

		{"relative path", policy("", rule("deny", "edit", "secret/*")), edit("secret/a"), "deny"},
		{"absolute path within", policy("", rule("deny", "edit", "secret/*")), edit("/repo/secret/a"), "deny"},
		{"crooked path", policy("", rule("deny", "edit", "secret/*")), edit("/repo/x/../secret/a"), "deny"},
		{"outside", policy("", rule("deny", "edit", "/*")), edit("/etc/passwd"), "deny"},
		{"outside by dots", policy("", rule("deny", "edit", "/*")), edit("../other/x"), "deny"},
		{"inside is not outside", policy("", rule("deny", "edit", "/*")), edit("/repo/a"), "allow"},
		{"a neighbour is outside", policy("", rule("deny", "edit", "/*")), edit("/repo-2/a"), "deny"},
		{"one of several", policy("", rule("deny", "edit", "secret/*")), edit("a", "secret/b"), "deny"},
		{"all of several", policy("ask", rule("allow", "edit", "src/*")), edit("src/a", "src/b"), "allow"},
		{"not all of several", policy("ask", rule("allow", "edit", "src/*")), edit("src/a", "b"), "ask"},

		{"host", policy("ask", rule("allow", "fetch", "example.com")), fetch("https://Example.com/x"), "allow"},
		{"below a host", policy("ask", rule("allow", "fetch", "*.example.com")), fetch("https://docs.example.com"), "allow"},
		{"not a host", policy("ask", rule("allow", "fetch", "*.example.com")), fetch("https://evil.net/x.example.com"), "ask"},
		{"address", policy("ask", rule("allow", "fetch", "https://example.com/*")), fetch("https://example.com"), "allow"},
		{"name before the host", policy("ask", rule("allow", "fetch", "https://example.com*")), fetch("https://example.com@evil.net/"), "ask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Decide(c.p, c.c); got.Do != c.want {
				t.Errorf("%+v is %s, want %s", c.c, got.Do, c.want)
			}
		})
	}
}

func TestDecideGivesReasons(t *testing.T) {
	t.Parallel()
	p := policy("deny", coppice.Rule{Do: "deny", Tool: "run", Match: "git push*", Why: "Coppice pushes"}, rule("deny", "edit", ""))
	if v := Decide(p, run("git push")); v.Why != "Coppice pushes" || v.Rule.Match != "git push*" {
		t.Errorf("git push: %+v, want the reason and the rule of the policy", v)
	}
	if v := Decide(p, edit("a")); v.Why == "" {
		t.Errorf("denied without a reason: %+v", v)
	}
	if v := Decide(p, fetch("https://x")); v.Why == "" || v.Rule.Do != "" {
		t.Errorf("a fetch: %+v, want a reason and no rule", v)
	}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	set := func(fields map[string]string) coppice.PermissionPolicy {
		return policy("", coppice.Rule{Do: "allow", Tool: "run", Set: fields})
	}
	for _, c := range []struct {
		input  string
		fields map[string]string
		want   string // "" is a refusal
	}{
		{`{"command":"x","timeout":5}`, map[string]string{"command": "y"}, `{"command":"y","timeout":5}`},
		{`{"command":"x","timeout":5}`, map[string]string{"timeout": "7"}, `{"command":"x","timeout":7}`},
		{`{"command":"x"}`, map[string]string{"background": "false"}, `{"background":false,"command":"x"}`},
		{`{"command":"1"}`, map[string]string{"command": "2"}, `{"command":"2"}`},
		{`{"list":[1]}`, map[string]string{"list": "[2]"}, `{"list":[2]}`},
		{``, map[string]string{"a": "b"}, `{"a":"b"}`},
		{`[1]`, map[string]string{"a": "b"}, ``},
		{`null`, map[string]string{"a": "b"}, ``},
		{`{`, map[string]string{"a": "b"}, ``},
	} {
		call := run("x")
		call.Input = json.RawMessage(c.input)
		v := Decide(set(c.fields), call)
		if c.want == "" {
			if v.Do != coppice.RuleDeny || v.Why == "" {
				t.Errorf("%s: %+v, want a refusal", c.input, v)
			}
			continue
		}
		if v.Do != coppice.RuleAllow || string(v.Input) != c.want {
			t.Errorf("%s: %s %s, want %s", c.input, v.Do, v.Input, c.want)
		}
	}
}

// A denied command is denied, whatever is around it. Adding commands never
// makes a line allowed.
func TestCompoundProperty(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{"ls", "echo hi", "true", `echo "a; b"`, "echo 'x && y'", "make 2>&1", "cat <<E\nx; y\nE\n", "echo $(date)"})
	joints := rapid.SampledFrom([]string{" && ", " || ", "; ", " | ", " & ", "\n"})
	rapid.Check(t, func(t *rapid.T) {
		line := words.Draw(t, "first")
		bad := rapid.IntRange(0, 4).Draw(t, "where")
		for i := range 5 {
			next := words.Draw(t, "word")
			if i == bad {
				next = rapid.SampledFrom([]string{"git push", "X=1 git  push -f", "(git push)", "echo $(git push)"}).Draw(t, "bad")
			}
			line += joints.Draw(t, "joint") + next
		}
		if v := Decide(policy("", rule("deny", "run", "git push*")), run(line)); v.Do != coppice.RuleDeny {
			t.Fatalf("%q is %s", line, v.Do)
		}
		allow := policy("ask", rule("allow", "run", "ls"), rule("allow", "run", "echo *"), rule("allow", "run", "true"), rule("allow", "run", "make *"),
			rule("allow", "run", "cat *"), rule("allow", "run", "date"))
		if v := Decide(allow, run(line)); v.Do != coppice.RuleAsk {
			t.Fatalf("%q is %s, for a command of it is not allowed", line, v.Do)
		}
	})
}

// A remembered answer decides the same call.
func TestAlwaysProperty(t *testing.T) {
	t.Parallel()
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab -/.*'\"$(){};&|\n`#<\\=é")), 0, 40, -1)
	rapid.Check(t, func(t *rapid.T) {
		var c Call
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			c = run(text.Draw(t, "command"))
		case 1:
			c = edit(text.Draw(t, "path"))
		case 2:
			c = fetch("https://example.com/" + text.Draw(t, "path"))
		}
		e := Question(c, "q")
		if utf8.RuneCountInString(e.Text) > maxQuestion || strings.ContainsAny(e.Text, "\n\r") || e.Text == "" || !utf8.ValidString(e.Text) {
			t.Fatalf("the question is %q", e.Text)
		}
		for answer, do := range map[string]string{coppice.AnswerDenyAlways: coppice.RuleDeny, coppice.AnswerAllowAlways: coppice.RuleAllow} {
			a := NewAsker(Request{Permissions: policy("ask")})
			if _, asked := a.Ask(c, "q"); !asked {
				t.Fatal("not asked")
			}
			v, got, ok := a.Answer(answer, "q")
			if !ok || v.Do != do || !cmp.Equal(got, c) {
				t.Fatalf("verdict %+v of %+v (%v), want %s of %+v", v, got, ok, do, c)
			}
			if got := a.Decide(c).Do; got != do {
				t.Fatalf("%+v is not decided by %+v but %s", c, a.policy.Rules, got)
			}
		}
	})
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		c           Call
		text        string
		tool, match string
	}{
		{run("git push origin main"), "may it run: git push origin main", "run", "git push *"},
		{run("npm run build -- --x"), "may it run: npm run build -- --x", "run", "npm run build *"},
		{run("rm -rf build"), "may it run: rm -rf build", "run", "rm -rf build *"},
		{run("ls"), "may it run: ls", "run", "ls"},
		{run("a && b"), "may it run: a && b", "run", "a && b"},
		{run(`bash -c "git push"`), `may it run: bash -c "git push"`, "run", `bash -c "git push"`},
		{run("a\nb"), "may it run: a b", "run", "a\nb"},
		{edit("/repo/src/a.go"), "may it edit: src/a.go", "edit", "src/*"},
		{edit("a.go", "b.go"), "may it edit: a.go, b.go", "edit", "a.go"},
		{edit("/etc/x/y"), "may it edit: /etc/x/y", "edit", "/etc/x/*"},
		{fetch("https://example.com/a?b"), "may it fetch: https://example.com/a?b", "fetch", "example.com"},
		{Call{Name: "mcp__db__drop", Kind: coppice.ToolOther}, "may it use mcp__db__drop?", "mcp__db__drop", ""},
		{Call{Name: "Grep", Kind: coppice.ToolSearch}, "may it search: something, with Grep", "search", ""},
	} {
		e := Question(c.c, "ref")
		if e.Kind != coppice.KindQuestion || e.Ref != "ref" || e.Text != c.text || len(e.Options) != 4 {
			t.Errorf("event %+v, want a question with the text %q and four options", e, c.text)
		}
		if e.Rule.Tool != c.tool || e.Rule.Match != c.match {
			t.Errorf("%q would remember %+v", c.text, e.Rule)
		}
	}
	if e := Question(run(strings.Repeat("é", 1000)), "x"); utf8.RuneCountInString(e.Text) != maxQuestion {
		t.Errorf("%d runes", utf8.RuneCountInString(e.Text))
	}
}

func TestAnswered(t *testing.T) {
	t.Parallel()
	offered := rule("allow", "run", "git push *")
	for _, c := range []struct {
		answer, do, why string
		remembers       bool
	}{
		{"allow", "allow", "", false},
		{"allow always", "allow", "", true},
		{"deny", "deny", refused, false},
		{"deny always", "deny", refused, true},
		{"Deny always: use the queue", "deny", "use the queue", true},
		{"use the queue\xff instead", "deny", "use the queue\uFFFD instead", false},
	} {
		v, r := Answered(c.answer, offered)
		if v.Do != c.do || v.Why != c.why || (r != nil) != c.remembers {
			t.Errorf("%q: verdict %+v, rule %+v; want %s because of %q, remembered %v", c.answer, v, r, c.do, c.why, c.remembers)
		}
		if r != nil && (r.Do != c.do || r.Why == refused || r.Tool != offered.Tool || r.Match != offered.Match) {
			t.Errorf("%q remembers %+v", c.answer, r)
		}
	}
}

func TestAsker(t *testing.T) {
	t.Parallel()
	a := NewAsker(Request{Permissions: policy("ask", rule("deny", "run", "git push*"))})
	if _, ok := a.Ask(run("git commit -m x"), "1"); !ok {
		t.Fatal("not asked")
	}
	if _, ok := a.Ask(run("git commit -m x"), "1"); ok {
		t.Error("asked twice")
	}
	a.Ask(edit("src/a"), "2")
	if got := a.Waiting(); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%q wait", got)
	}
	if _, _, ok := a.Answer("allow", "3"); ok {
		t.Error("an answer to nothing is taken")
	}
	if v, _, ok := a.Answer("allow always", "2"); !ok || !v.Allowed() {
		t.Errorf("the second answer: %+v (%v), want it allowed", v, ok)
	}
	if v := a.Decide(edit("src/b")); v.Do != "allow" {
		t.Errorf("what a person always allows is %s", v.Do)
	}
	if !a.Withdraw("1") || a.Withdraw("1") || len(a.Waiting()) != 0 {
		t.Error("not withdrawn once")
	}
	if !a.Restricts() || Restricts(policy("", rule("allow", "", ""))) || !Restricts(policy("", coppice.Rule{Do: "allow", Set: map[string]string{"a": "b"}})) {
		t.Error("what restricts")
	}
}
