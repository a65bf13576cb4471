package agent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// command is one command of a shell line.
type command struct {
	text string // as written, with single blanks
	// forms are other ways to write the same: without quotes, and without the
	// words before the program.
	forms []string
}

// maxParsed limits the lines that are parsed. The parser follows nested
// commands to any depth.
const maxParsed = MaxText

func parse(line string) (*syntax.File, bool) {
	if len(line) > maxParsed || strings.ContainsRune(line, 0) {
		return nil, false
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	return file, err == nil
}

// commands splits a shell line into its commands, including those in
// substitutions, groups and functions. It reports false for a line that cannot
// be parsed. Such a line is cut at every operator, so that rules find what they
// deny.
func commands(line string) (all []command, parsed bool) {
	seen := map[string]bool{}
	add := func(c command) {
		if c.text = blanks(c.text); c.text != "" && !seen[c.text] {
			seen[c.text] = true
			all = append(all, c)
		}
	}
	file, parsed := parse(line)
	if !parsed {
		for _, part := range operators().Split(line, -1) {
			add(command{text: part, forms: tails(part)})
		}
		return all, false
	}
	s := source(line)
	syntax.Walk(file, func(n syntax.Node) bool {
		if stmt, ok := n.(*syntax.Stmt); ok {
			add(s.command(stmt))
		}
		return true
	})
	return all, true
}

var operators = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[;&|\n`(){}]") })

// tails returns the ends of a part of a broken line, one from each of its first
// words on. A command can start at each.
func tails(part string) (all []string) {
	words := strings.Fields(part)
	for i := range min(len(words), 20) {
		all = append(all, strings.Join(words[i:], " "))
	}
	return all
}

// blanks replaces runs of blanks by single ones.
func blanks(s string) string { return strings.Join(strings.Fields(s), " ") }

// source is a shell line that was parsed.
type source string

// between returns a part of the line.
func (s source) between(from, to syntax.Pos) string {
	end := min(int(to.Offset()), len(s))
	return string(s[min(int(from.Offset()), end):end])
}

// command returns what a statement itself runs. A statement that consists of
// others has only its redirections, and a loop the variable that it sets.
func (s source) command(stmt *syntax.Stmt) command {
	var from, to syntax.Pos
	var call *syntax.CallExpr
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		from, to, call = cmd.Pos(), cmd.End(), cmd
	case *syntax.DeclClause, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		from, to = cmd.Pos(), cmd.End()
	case *syntax.ForClause:
		return command{text: s.between(cmd.Pos(), cmd.Loop.End()) + " " + s.redirections(stmt)}
	default:
		return command{text: s.redirections(stmt)}
	}
	for _, r := range stmt.Redirs { // a here-document's text does not belong to the command
		if from.After(r.Pos()) {
			from = r.Pos()
		}
		if end := r.Word.End(); end.After(to) {
			to = end
		}
	}
	c := command{text: s.between(from, to)}
	if call != nil {
		c.forms = s.forms(call.Args, to)
	}
	return c
}

func (s source) redirections(stmt *syntax.Stmt) string {
	var all []string
	for _, r := range stmt.Redirs {
		all = append(all, s.between(r.Pos(), r.Word.End()))
	}
	return strings.Join(all, " ")
}

// wrappers are programs that run the program after them.
var wrappers = []string{"command", "builtin", "exec", "nohup", "env", "sudo", "time"}

// forms returns the ways to write a call without quotes, without variables and
// without wrappers.
func (s source) forms(args []*syntax.Word, to syntax.Pos) (all []string) {
	plain := make([]string, len(args))
	for i, w := range args {
		if word, ok := literal(w); ok {
			plain[i] = word
		} else {
			plain[i] = s.between(w.Pos(), w.End())
		}
	}
	wrapped := false
	for i, word := range plain {
		all = append(all, blanks(s.between(args[i].Pos(), to)), blanks(strings.Join(plain[i:], " ")))
		isOption := wrapped && (strings.HasPrefix(word, "-") || strings.Contains(word, "="))
		if !isOption && !slices.Contains(wrappers, word) {
			break
		}
		wrapped = true
	}
	return all
}

// literal returns a word without its quotes. It reports false for a word that
// the shell expands.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	ok := unquote(&b, w.Parts, unescaped())
	return b.String(), ok
}

var (
	unescaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)\\(.)`) })
	inQuotes  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?s)\\\\([$`\"\\\\\n])") })
)

func unquote(b *strings.Builder, parts []syntax.WordPart, escapes *regexp.Regexp) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(escapes.ReplaceAllStringFunc(part.Value, func(s string) string { return strings.TrimPrefix(s[1:], "\n") }))
		case *syntax.SglQuoted:
			value := part.Value
			if part.Dollar {
				var ok bool
				if value, ok = unescape(value); !ok {
					return false
				}
			}
			b.WriteString(value)
		case *syntax.DblQuoted:
			if !unquote(b, part.Parts, inQuotes()) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// Words returns the words of a line that is one plain command: without
// variables, substitutions and redirections.
func Words(line string) ([]string, bool) {
	file, ok := parse(line)
	if !ok || len(file.Stmts) != 1 {
		return nil, false
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns)+len(stmt.Redirs) > 0 || stmt.Negated || stmt.Background {
		return nil, false
	}
	var words []string
	for _, w := range call.Args {
		word, ok := literal(w)
		if !ok {
			return nil, false
		}
		words = append(words, word)
	}
	return words, true
}

// oneChar are the escapes of one character in $'…'.
var oneChar = strings.NewReplacer(`a`, "\a", `b`, "\b", `e`, "\x1b", `E`, "\x1b", `f`, "\f", `n`, "\n", `r`, "\r", `t`, "\t", `v`, "\v", `\`, `\`, `'`, `'`, `"`, `"`, `?`, `?`)

var escapeRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|([abeEfnrtv\\'"?]))`)
})

// unescape returns the text that bash reads from the text in $'…'. It reports
// false if the text has a zero byte, where bash ends it.
func unescape(text string) (string, bool) {
	out := escapeRE().ReplaceAllStringFunc(text, func(escape string) string {
		m := escapeRE().FindStringSubmatch(escape)
		number := func(digits string, base int) rune {
			n, _ := strconv.ParseUint(digits, base, 32) // the expression has matched digits
			return rune(n)
		}
		switch {
		case m[1] != "":
			return string([]byte{byte(number(m[1], 8))})
		case m[2] != "":
			return string([]byte{byte(number(m[2], 16))})
		case m[3]+m[4] != "":
			return string(number(m[3]+m[4], 16))
		case m[5] != "":
			return string([]byte{m[5][0] & 0x1f}) + m[5][1:]
		}
		return oneChar.Replace(m[6])
	})
	return out, !strings.ContainsRune(out, 0)
}
