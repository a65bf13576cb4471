package agent

import (
	"regexp"
	"strings"
	"sync"
)

// commands takes a shell line apart into the commands it is made of, those in
// $(…), `…`, <(…) and (…) included, each with its blanks made single. What
// stands in quotes, in a comment or in a here-document is no command. A line
// that no shell would take (a quote is left open) is cut at every operator,
// wherever it stands: better a part too many.
func commands(line string) []string {
	s := splitter{in: line}
	s.list(0, "")
	if s.torn {
		for _, p := range operators().Split(line, -1) {
			s.add(p)
		}
	}
	return s.out
}

var operators = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[;&|\n`()]|\\$\\(") })

// deepest is how far commands within commands are followed.
const deepest = 40

// mostLost bounds how often the whole rest of a line is searched.
const mostLost = 100

// splitter walks over a line once.
type splitter struct {
	in      string
	at      int
	out     []string
	seen    map[string]bool // what stands in out
	torn    bool
	pending []document // here-documents whose text follows the next line break
	lost    int        // here-documents whose end was looked for in vain
}

type document struct {
	end   string
	tabs  bool // before the end are left out
	quote bool // nothing in it is looked at
}

func (s *splitter) more() bool { return s.at < len(s.in) }

func (s *splitter) has(prefix string) bool { return strings.HasPrefix(s.in[s.at:], prefix) }

func (s *splitter) add(text string) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" || text == "{" || text == "}" {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if !s.seen[text] {
		s.seen[text] = true
		s.out = append(s.out, text)
	}
}

// list reads commands up to the closing text, or to the end.
func (s *splitter) list(depth int, closing string) {
	if depth > deepest {
		s.torn, s.at = true, len(s.in)
		return
	}
	begin := s.at
	cut := func(n int) {
		s.add(s.in[begin:s.at])
		s.at += n
		begin = s.at
	}
	for s.more() {
		if closing != "" && s.has(closing) {
			cut(len(closing))
			return
		}
		switch c := s.in[s.at]; c {
		case '\\':
			s.at = min(s.at+2, len(s.in))
		case '\'':
			s.single()
		case '"':
			s.at++
			if !s.text(depth, '"') {
				s.torn = true
			}
		case '`':
			s.at++
			s.list(depth+1, "`")
		case '#':
			if s.at > begin && !strings.ContainsRune(" \t;&|(\n", rune(s.in[s.at-1])) {
				s.at++
				continue
			}
			s.add(s.in[begin:s.at])
			s.comment()
			begin = s.at
		case '\n':
			cut(1)
			s.documents(depth)
			begin = s.at
		case ';', '|':
			cut(1)
		case '&':
			if s.redirects() {
				s.at++
				continue
			}
			cut(1)
		case '(':
			// $(…), <(…), >(…), a group, or the parentheses of a function.
			s.at++
			s.list(depth+1, ")")
		case '<':
			s.less()
		default:
			s.at++
		}
	}
	if closing != "" {
		s.torn = true
	}
	cut(0)
}

// redirects tells whether the & at hand belongs to 2>&1, &> or <&3.
func (s *splitter) redirects() bool {
	before := s.at > 0 && (s.in[s.at-1] == '>' || s.in[s.at-1] == '<')
	after := s.at+1 < len(s.in) && s.in[s.at+1] == '>'
	return before || after
}

func (s *splitter) single() {
	i := strings.IndexByte(s.in[s.at+1:], '\'')
	if i < 0 {
		s.torn, s.at = true, len(s.in)
		return
	}
	s.at += i + 2
}

// text reads a text up to its end; within it commands may stand. It tells
// whether the end came.
func (s *splitter) text(depth int, end byte) bool {
	for s.more() {
		switch c := s.in[s.at]; {
		case c == '\\':
			s.at = min(s.at+2, len(s.in))
		case c == end:
			s.at++
			return true
		case c == '`':
			s.at++
			s.list(depth+1, "`")
		case s.has("$("):
			s.at += 2
			s.list(depth+1, ")")
		default:
			s.at++
		}
	}
	return false
}

func (s *splitter) comment() {
	i := strings.IndexByte(s.in[s.at:], '\n')
	if i < 0 {
		s.at = len(s.in)
		return
	}
	s.at += i // the line break is still to come
}

var documentRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<<(-?)[ \t]*('[^'\n]+'|"[^"\n]+"|\\?[A-Za-z0-9_.-]+)`)
})

// less reads < and what may follow it; a here-document is remembered.
func (s *splitter) less() {
	if s.has("<<<") {
		s.at += 3
		return
	}
	m := documentRE().FindStringSubmatch(s.in[s.at:])
	if m == nil {
		s.at++
		return
	}
	s.at += len(m[0])
	end := strings.Trim(m[2], `'"\`)
	s.pending = append(s.pending, document{end: end, tabs: m[1] == "-", quote: end != m[2]})
}

// documents leaves out the texts of the here-documents that begin here. One
// whose end does not come is taken for commands: it was something else.
func (s *splitter) documents(depth int) {
	pending := s.pending
	s.pending = nil
	for _, d := range pending {
		if s.lost >= mostLost {
			s.torn = true
			return
		}
		size, rest := d.length(s.in[s.at:])
		if size < 0 {
			s.lost++
			return
		}
		if !d.quote {
			inner := splitter{in: s.in[s.at : s.at+size], lost: s.lost}
			inner.text(depth+1, 0)
			s.lost = inner.lost
			for _, c := range inner.out {
				s.add(c)
			}
		}
		s.at += rest
	}
}

// length returns the size of the document's text, and of the text with its end;
// -1 when it has none.
func (d document) length(in string) (size, rest int) {
	for l := range strings.Lines(in) {
		line := strings.TrimRight(l, "\r\n")
		if d.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == d.end {
			// The line break behind it belongs to the commands again.
			return rest, rest + len(strings.TrimRight(l, "\n"))
		}
		rest += len(l)
	}
	return -1, 0
}

var prefixRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:[A-Za-z_][A-Za-z0-9_]*=(?:'[^']*'|"[^"]*"|[^\s'"]*)|[!({]|if|then|elif|else|while|until|do|time|command|builtin|exec|nohup|env|sudo|\\)\s*)+`)
})

// bare cuts off what may stand before the program of a command.
func bare(command string) string {
	m := prefixRE().FindString(command[:min(len(command), 4096)])
	if m == "" {
		return ""
	}
	// A word that only begins like one of those is the program itself.
	if last := m[len(m)-1]; last != ' ' && last != '\\' && last != '(' && last != '{' && last != '!' {
		m = m[:strings.LastIndexByte(m, ' ')+1]
	}
	return command[len(m):]
}
