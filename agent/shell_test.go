package agent

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
)

func texts(all []command) (out []string) {
	for _, c := range all {
		out = append(out, c.text)
	}
	return out
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want []string
	}{
		{"a", []string{"a"}},
		{"a && b || c; d | e & f", []string{"a", "b", "c", "d", "e", "f"}},
		{"a |& b", []string{"a", "b"}},
		{"a 2>&1 | b &> c", []string{"a 2>&1", "b &> c"}},
		{">x a <y b", []string{">x a <y b"}},
		{`a "b; c" 'd; e' f\;g`, []string{`a "b; c" 'd; e' f\;g`}},
		{"a $(b $(c; d))", []string{"a $(b $(c; d))", "b $(c; d)", "c", "d"}},
		{"a `b; c`", []string{"a `b; c`", "b", "c"}},
		{`a "$(b)" <(c) >(d)`, []string{`a "$(b)" <(c) >(d)`, "b", "c", "d"}},
		{"a ${x:-$(b)} $((1 + $(c)))", []string{"a ${x:-$(b)} $((1 + $(c)))", "b", "c"}},
		{"a <<X; b\nc; d\nX\ne", []string{"a <<X", "b", "e"}},
		{"a <<-X\n\tc\n\tX\ne", []string{"a <<-X", "e"}},
		{"a <<X <<Y\n1\nX\n2\nY\nb", []string{"a <<X <<Y", "b"}},
		{"a <<X\n$(b)\nX", []string{"a <<X", "b"}},
		{"a <<'X'\n$(b)\nX", []string{"a <<'X'"}},
		{"a <<<X\nb", []string{"a <<<X", "b"}},
		{"a <<<$(b)", []string{"a <<<$(b)", "b"}},
		{"a#b # c\nd", []string{"a#b", "d"}},
		{"A=1 B=$(x) c", []string{"A=1 B=$(x) c", "x"}},
		{"A=$(x)", []string{"A=$(x)", "x"}},
		{"export A=$(x)", []string{"export A=$(x)", "x"}},
		{"if a; then b; elif c; then d; else e; fi", []string{"a", "b", "c", "d", "e"}},
		{"while ! a; do b; done > x", []string{"> x", "a", "b"}},
		{"for P in a $(b); do c; done", []string{"for P in a $(b)", "b", "c"}},
		{"for ((i=0; i<$(b); i++)); do c; done", []string{"for ((i=0; i<$(b); i++))", "b", "c"}},
		{"case $(a) in x) b ;; *) c ;; esac", []string{"a", "b", "c"}},
		{"f() { a; }; f", []string{"a", "f"}},
		{"(a; b) 2>x", []string{"2>x", "a", "b"}},
		{"{ a; } >>x", []string{">>x", "a"}},
		{"[[ -n $(a) ]] && ((b))", []string{"[[ -n $(a) ]]", "a", "((b))"}},
		{"time a", []string{"a"}},
		{"coproc a", []string{"a"}},
		{"> x", []string{"> x"}},
		{"a; a", []string{"a"}},
		{"# only", nil},
		{"", nil},
	} {
		got, parsed := commands(c.line)
		if diff := cmp.Diff(c.want, texts(got)); diff != "" || !parsed {
			t.Errorf("%q, parsed %v (-want +got):\n%s", c.line, parsed, diff)
		}
	}
}

// A denied command is found however it is written.
func TestDeniedHoweverWritten(t *testing.T) {
	t.Parallel()
	deny := policy("", rule("deny", "run", "git push*"))
	for _, line := range []string{
		"git push", "git\tpush", "  git push", "git \\\n push", "gi\\\nt push", "\\git push", `g"i"t push`, "'git' push", `"git" 'push'`, `git "pu"sh`,
		"$'git' push", `$'\x67it' push`, `$'\147it' push`, "git pus\\h",
		"A=1 git push", "A='x y' B=$(z) git push", "A= git push", "A=(1 2); git push", "env git push", "env -i A=1 git push", "command git push", "command -p git push",
		"exec git push", "nohup git push", "sudo -n git push", "sudo env A=1 nohup git push", "\"env\" git push",
		"true && git push", "true||git push", "true;git push", "true&git push", "true|git push", "true |& git push", "true\ngit push", "true\r\ngit push", "! git push",
		"(git push)", "{ git push; }", "( ( git push ) )", "f() { git push; }; f", "function f { git push; }", "time git push", "coproc git push",
		"if git push; then :; fi", "while git push; do :; done", "until git push; do :; done", "for x in 1; do git push; done", "case x in x) git push;; esac",
		"select x in 1; do git push; done",
		"echo $(git push)", "echo `git push`", "echo `echo \\`git push\\``", `echo "$(git push)"`, `echo "a ${b:-$(git push)}"`, "echo $((1 + $(git push)))", "A=$(git push)",
		"export A=$(git push)", "echo <(git push)", "tee >(git push)", "cat <<E\n$(git push)\nE", "cat <<E\n`git push`\nE", "cat <<-E\n\t$(git push)\n\tE",
		"cat <<'E'\nx\nE\ngit push", "cat <<<$(git push)", "cat <<E; git push\nx\nE", "cat <<A <<B\na\nA\nb\nB\ngit push", "[[ -n $(git push) ]]", "echo a > $(git push)",
		"git push > /dev/null", "> x git push", "2>&1 git push", "git > x push", "git push &", "git push # why", "# x\ngit push", "echo ${a[$(git push)]}",
		// These cannot be parsed.
		"echo 'x && git push", "git push)", "git push &&", "git push |", "if true; then git push", "$(git push", "git push `", "{ git push", "case x in git push",
	} {
		if v := Decide(deny, run(line)); v.Do != coppice.RuleDeny {
			t.Errorf("%q is %s", line, v.Do)
		}
	}
	for _, line := range []string{
		"echo git push", `git commit -m "git push"`, "git commit -F - <<'E'\ngit push\nE", "cat <<E\ngit push\nE", "# git push", "true # git push",
		"echo 'git push'", `echo "\$(git push)"`, `echo '$(git push)'`, "echo \\`git push\\`", "git log", "cat <<'E'\n$(git push)\nE",
	} {
		if v := Decide(deny, run(line)); v.Do != coppice.RuleAllow {
			t.Errorf("%q, which does not push, is %s", line, v.Do)
		}
	}
}

// An allowed command does not allow anything else.
func TestAllowedAlone(t *testing.T) {
	t.Parallel()
	allow := policy("ask", rule("allow", "run", "git status *"), rule("allow", "run", "echo *"))
	for _, line := range []string{"git status", "git status -s", "echo a; git status", "echo $(git status)", "(git status)", "if git status; then echo a; fi", "git status && echo 'a; b'"} {
		if v := Decide(allow, run(line)); v.Do != coppice.RuleAllow {
			t.Errorf("%q is %s", line, v.Do)
		}
	}
	for _, line := range []string{
		"git status; rm x", "git status && rm x", "git status || rm x", "git status | rm x", "git status & rm x", "git status\nrm x", "git status $(rm x)", "git status `rm x`",
		`git status "$(rm x)"`, "git status <(rm x)", "git status ${a:-$(rm x)}", "git status <<E\n$(rm x)\nE", "git status <<E\nx\nE\nrm x", "git status <<<$(rm x)",
		"PATH=x git status", "LD_PRELOAD=x git status", "export PATH=x; git status", "PATH=x; git status", "for PATH in x; do git status; done", "git() { rm x; }; git status",
		"{ git status; } > x", "(git status) > x", "> x", "while git status; do echo a; done > x", "env git status", "sudo git status", `"git" status`, "\\git status",
		"git statusx", "[[ -n a ]] && git status",
		// These cannot be parsed, and are asked about although every part is allowed.
		"git status)", "git status '", "git status &&", "echo $(git status", "echo a; )", "echo a\x00b", "echo " + strings.Repeat("a", maxParsed),
	} {
		if v := Decide(allow, run(line)); v.Do != coppice.RuleAsk {
			t.Errorf("%.80q is %s", line, v.Do)
		}
	}
}

// A line that cannot be parsed is asked about where a rule could say otherwise.
func TestUnparsed(t *testing.T) {
	t.Parallel()
	const line = "echo 'a"
	for _, c := range []struct {
		name string
		p    coppice.PermissionPolicy
		want string
	}{
		{"nothing restricts", policy(""), "allow"},
		{"rules for other tools", policy("", rule("deny", "edit", "secret/*")), "allow"},
		{"a rule for commands", policy("", rule("deny", "run", "git push*")), "ask"},
		{"a rule for every tool", policy("", rule("ask", "", "x")), "ask"},
		{"all is allowed", policy("ask", rule("allow", "run", "*")), "ask"},
		{"the tool is allowed", policy("ask", rule("allow", "run", "")), "ask"},
		{"the line is allowed", policy("ask", rule("allow", "run", line)), "allow"},
		{"the line is allowed, and a part denied before", policy("ask", rule("deny", "run", "echo*"), rule("allow", "run", line)), "deny"},
		{"denied by default", policy("deny"), "deny"},
		{"denied", policy("", rule("deny", "run", "echo *")), "deny"},
		{"fields are set", policy("", coppice.Rule{Do: "allow", Tool: "run", Set: map[string]string{"timeout": "1"}}), "ask"},
	} {
		if v := Decide(c.p, run(line)); v.Do != c.want {
			t.Errorf("%s: %s, want %s", c.name, v.Do, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"a b":                     {"a", "b"},
		`a 'b c' "d \$ \e" f\ g`:  {"a", "b c", `d $ \e`, "f g"},
		"a \\\n b":                {"a", "b"},
		`a $'b\tc'`:               {"a", "b\tc"},
		`a ""`:                    {"a", ""},
		"a $b":                    nil,
		"a $(b)":                  nil,
		"a; b":                    nil,
		"a > b":                   nil,
		"A=1 b":                   nil,
		"! a":                     nil,
		"a &":                     nil,
		"(a)":                     nil,
		"":                        nil,
		"a '":                     nil,
		"a " + "\x00":             nil,
		strings.Repeat("(", 1000): nil,
	} {
		got, ok := Words(line)
		if !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%q gives %q, %v, want %q", line, got, ok, want)
		}
	}
}

// Commands within commands do not exhaust the stack, however deep they go.
func TestDeepNesting(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"(", "if ", "\"$(", "${a:-", "[[ (", "case a in a) "} {
		line := strings.Repeat(piece, maxParsed/len(piece))
		if v := Decide(policy("", rule("deny", "run", "git push*")), run(line)); v.Do != coppice.RuleAsk {
			t.Errorf("%q again and again is %s", piece, v.Do)
		}
	}
}

// Quotes around letters of a command do not change that it is denied.
func TestQuotingProperty(t *testing.T) {
	t.Parallel()
	quote := map[int]func(string) string{
		0: func(s string) string { return s },
		1: func(s string) string { return "'" + s + "'" },
		2: func(s string) string { return `"` + s + `"` },
		3: func(s string) string { return `\` + s },
		4: func(s string) string { return "$'" + s + "'" },
		5: func(s string) string { return "\\\n" + s },
		6: func(s string) string { return s + "''" },
	}
	rapid.Check(t, func(t *rapid.T) {
		write := func(word string) (out string) {
			for _, letter := range strings.Split(word, "") {
				out += quote[rapid.IntRange(0, len(quote)-1).Draw(t, "quote")](letter)
			}
			return out
		}
		line := write("git") + rapid.SampledFrom([]string{" ", "  ", "\t", " \\\n "}).Draw(t, "blank") + write("push")
		if v := Decide(policy("", rule("deny", "run", "git push*")), run(line)); v.Do != coppice.RuleDeny {
			t.Fatalf("%q is %s", line, v.Do)
		}
	})
}

// FuzzCommands splits any text. A command on a separate line before it is
// found. A line that cannot be parsed is never allowed.
func FuzzCommands(f *testing.F) {
	for _, s := range []string{
		"a && b", "$(a", "`", "a <<X\nb", "'", "((", "a\\", "# x", "a <<'E'\n$(b)\nE", "${a:-$(b)}", "$'\\x67'", "a;;b", "f() {", "A=1 b", "a >&2 <b", "{a,b}", "[[ a ]]",
		"case a in b) c;; esac", "for x in y; do z; done", "\"$(\"a\")\"", "a |& b", "\\\n", "`a \\`b\\``", "<<E\n", "~a", "a=(b c)", "!a", "}", "\r\n", "\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		all, parsed := commands(strings.TrimSpace(line)) // as Decide does
		for _, c := range all {
			if c.text == "" || c.text != blanks(c.text) {
				t.Errorf("%q gives %q", line, c.text)
			}
		}
		v := Decide(policy("ask", rule("deny", "run", "git push*"), rule("allow", "", "*")), run(line))
		if !parsed && strings.TrimSpace(line) != "*" && v.Do == coppice.RuleAllow {
			t.Errorf("%q cannot be parsed and is allowed", line)
		}
		if got, _ := commands("git push\n" + line); !slices.Contains(texts(got), "git push") {
			t.Errorf("git push is lost before %q: %q", line, texts(got))
		}
		Words(line)
	})
}

// Escapes in $'…' mean what they mean to bash.
func TestEscapesAreThoseOfBash(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`plain`, `a\tb\n`, `\a\b\e\E\f\r\v\\\'\"\?`, `\1472\0411\7`, `\x67it\x4`, `\xzz`, `\u00e9\u20`, `\U0001F600x`, `\cA\cz`, `\q\ `, `\\x41`, `\777`,
	} {
		cmd := exec.Command("bash", "-c", "printf %s $'"+text+"'")
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		want, err := cmd.Output()
		if err != nil {
			t.Fatal(text, err)
		}
		if got, ok := unescape(text); !ok || got != string(want) {
			t.Errorf("%s: got %q, %t, want %q", text, got, ok, want)
		}
	}
	if _, ok := unescape(`a\0b`); ok {
		t.Error("a zero byte is accepted")
	}
}
