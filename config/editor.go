package config

import (
	"bytes"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// editor changes the text of a configuration in one place. The syntax tree says
// where keys and values are, and the editor scans the text from there. It need
// not handle everything that YAML allows: Edit checks the result.
type editor struct {
	bom int    // bytes before the source
	src []byte // without them
	d   *decoder
}

// entry is a key of a mapping and its value.
type entry struct {
	node *ast.MappingValueNode
	all  []*ast.MappingValueNode // of the mapping
	at   int                     // its index in all
	flow bool                    // the mapping is written {like this}
	up   *entry                  // the entry whose value the mapping is; nil at the top
}

// find follows a path as far as its keys exist, and returns how far that is.
func (e *editor) find(body ast.Node, path []string) (found *entry, depth int) {
	for node := body; depth < len(path); depth++ {
		all, isFlow := entriesOf(node)
		at := -1
		for i, n := range all {
			if name, err := e.d.keyText(n); err == nil && name == path[depth] {
				at = i
			}
		}
		if at < 0 {
			return found, depth
		}
		found = &entry{node: all[at], all: all, at: at, flow: isFlow, up: found}
		node = all[at].Value
	}
	return found, depth
}

func entriesOf(n ast.Node) (all []*ast.MappingValueNode, isFlow bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, n.IsFlowStyle
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, false
	}
	return nil, false
}

// set writes a value, with the keys above it that are missing.
func (e *editor) set(body ast.Node, path []string, value string) []byte {
	found, depth := e.find(body, path)
	if depth == len(path) {
		return e.replace(found, value)
	}
	text := nested(path[depth:], value)
	if found == nil {
		if all, isFlow := entriesOf(body); len(all) > 0 {
			return e.add(&entry{node: all[len(all)-1], all: all, at: len(all) - 1, flow: isFlow}, text)
		}
		if m, ok := body.(*ast.MappingNode); ok && m.IsFlowStyle {
			at := e.offset(m.GetToken())
			return e.splice(at, e.closing(at), "{"+text+"}")
		}
		return e.appendLine(text)
	}
	if all, isFlow := entriesOf(found.node.Value); len(all) > 0 {
		return e.add(&entry{node: all[len(all)-1], all: all, at: len(all) - 1, flow: isFlow, up: found}, text)
	}
	return e.replace(found, "{"+text+"}") // the mapping is empty
}

// add writes a new key after the last one of a mapping.
func (e *editor) add(last *entry, text string) []byte {
	end := e.end(last)
	if last.flow {
		return e.splice(end, end, ", "+text)
	}
	indent := strings.Repeat(" ", last.all[0].Key.GetToken().Position.Column-1)
	at := e.lineEnd(end)
	if at == len(e.src) && !bytes.HasSuffix(e.src, []byte("\n")) {
		return e.splice(at, at, e.newline()+indent+text)
	}
	return e.splice(at, at, indent+text+e.newline())
}

func (e *editor) appendLine(text string) []byte {
	at := len(e.src)
	if at > 0 && e.src[at-1] != '\n' {
		text = e.newline() + text
	}
	return e.splice(at, at, text+e.newline())
}

// replace replaces the value of an entry.
func (e *editor) replace(x *entry, value string) []byte {
	colon := e.colon(x)
	end := e.end(x)
	from := e.skipBlanks(colon)
	if x.flow || from < e.lineEnd(colon) && !isEnd(e.src, from) { // it starts on the key's line
		if from > end {
			return e.splice(colon, colon, " "+value)
		}
		if from == colon {
			value = " " + value
		}
		return e.splice(from, end, value)
	}
	// The value is a block below the key, or empty: text after the colon on its
	// line is a comment and stays.
	line := e.lineEnd(colon)
	out := append([]byte{}, e.src[:colon]...)
	out = append(out, " "+value...)
	out = append(out, e.src[colon:line]...)
	return append(out, e.src[max(line, e.lineEnd(end)):]...)
}

// unset removes a key, and mappings that are then empty.
func (e *editor) unset(body ast.Node, path []string) []byte {
	x, _ := e.find(body, path)
	for len(x.all) == 1 && x.up != nil {
		x = x.up
	}
	start, end := e.offset(x.node.Key.GetToken()), e.end(x)
	switch {
	case !x.flow:
		return e.splice(e.lineStart(start), e.lineEnd(end), "")
	case x.at+1 < len(x.all):
		return e.splice(start, e.offset(x.all[x.at+1].Key.GetToken()), "")
	case x.at > 0:
		before := *x
		before.at, before.node = x.at-1, x.all[x.at-1]
		return e.splice(e.end(&before), end, "")
	}
	return e.splice(start, end, "")
}

func (e *editor) splice(from, to int, text string) []byte {
	out := append([]byte{}, e.src[:from]...)
	return append(append(out, text...), e.src[to:]...)
}

// offset returns the position of a token in the source.
func (e *editor) offset(t *token.Token) int {
	at := 0
	for range t.Position.Line - 1 {
		next := bytes.IndexByte(e.src[at:], '\n')
		if next < 0 {
			return len(e.src)
		}
		at += next + 1
	}
	for range t.Position.Column - 1 {
		if at >= len(e.src) || e.src[at] == '\n' {
			break
		}
		for at++; at < len(e.src) && e.src[at]&0xC0 == 0x80; at++ {
		}
	}
	return at
}

func (e *editor) lineStart(at int) int { return bytes.LastIndexByte(e.src[:at], '\n') + 1 }

// lineEnd returns the position after the line break of a line.
func (e *editor) lineEnd(at int) int {
	next := bytes.IndexByte(e.src[at:], '\n')
	if next < 0 {
		return len(e.src)
	}
	return at + next + 1
}

func (e *editor) newline() string {
	if i := bytes.IndexByte(e.src, '\n'); i > 0 && e.src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func (e *editor) skipBlanks(at int) int {
	for at < len(e.src) && (e.src[at] == ' ' || e.src[at] == '\t') {
		at++
	}
	return at
}

// isEnd reports whether the rest of a line has no content.
func isEnd(src []byte, at int) bool {
	return at >= len(src) || src[at] == '\n' || src[at] == '\r' || src[at] == '#'
}

// colon returns the position after an entry's colon.
func (e *editor) colon(x *entry) int {
	at := e.offset(x.node.Key.GetToken())
	if at < len(e.src) && (e.src[at] == '"' || e.src[at] == '\'') {
		at = e.quoted(at)
	}
	if next := bytes.IndexByte(e.src[at:], ':'); next >= 0 {
		return at + next + 1
	}
	return len(e.src)
}

// quoted returns the position after a text in quotes.
func (e *editor) quoted(at int) int {
	quote := e.src[at]
	for at++; at < len(e.src); at++ {
		switch {
		case quote == '"' && e.src[at] == '\\':
			at++
		case e.src[at] != quote:
		case quote == '\'' && at+1 < len(e.src) && e.src[at+1] == quote:
			at++
		default:
			return at + 1
		}
	}
	return len(e.src)
}

// closing returns the position after the bracket that closes the one at a
// position.
func (e *editor) closing(at int) int {
	depth := 0
	for at < len(e.src) {
		switch c := e.src[at]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return at + 1
			}
		case (c == '"' || c == '\'') && at > 0 && strings.IndexByte(" \t\n\r,[{:", e.src[at-1]) >= 0:
			at = e.quoted(at)
			continue
		case c == '#' && at > 0 && (e.src[at-1] == ' ' || e.src[at-1] == '\t' || e.src[at-1] == '\n'):
			for at < len(e.src) && e.src[at] != '\n' {
				at++
			}
			continue
		}
		at++
	}
	return at
}

// end returns the position after an entry's value.
func (e *editor) end(x *entry) int {
	colon := e.colon(x)
	from := e.skipBlanks(colon)
	if x.flow {
		for from < len(e.src) && (isEnd(e.src, from) || e.src[from] == ' ') { // the value can be on a later line
			if e.src[from] == '#' {
				from = e.lineEnd(from) - 1
			}
			from++
		}
	}
	if from < len(e.src) && !isEnd(e.src, from) {
		switch c := e.src[from]; {
		case c == '[' || c == '{':
			return e.closing(from)
		case c == '"' || c == '\'':
			return e.quoted(from)
		case x.flow:
			return e.plain(colon, from)
		case c != '|' && c != '>':
			end := e.plainLine(from)
			if rest := e.block(x); rest > e.lineEnd(end) {
				return e.trimmed(rest) // it continues below
			}
			return end
		}
	}
	if x.flow {
		return colon
	}
	if rest := e.block(x); rest > e.lineEnd(colon) {
		return e.trimmed(rest)
	}
	return colon
}

// trimmed returns the end of the last line before a position, without its line
// break.
func (e *editor) trimmed(at int) int {
	for at > 0 && (e.src[at-1] == '\n' || e.src[at-1] == '\r') {
		at--
	}
	return at
}

// plainLine returns the end of a plain text on its line.
func (e *editor) plainLine(at int) int {
	from := at
	for at < len(e.src) && e.src[at] != '\n' && !(e.src[at] == '#' && at > from && (e.src[at-1] == ' ' || e.src[at-1] == '\t')) {
		at++
	}
	for at > from && strings.IndexByte(" \t\r", e.src[at-1]) >= 0 {
		at--
	}
	return at
}

// plain returns the end of a plain text within brackets, or colon if there is
// none.
func (e *editor) plain(colon, at int) int {
	from := at
	for at < len(e.src) && strings.IndexByte(",]}\n", e.src[at]) < 0 && !(e.src[at] == '#' && e.src[at-1] == ' ') {
		at++
	}
	for at > from && strings.IndexByte(" \t\r", e.src[at-1]) >= 0 {
		at--
	}
	if at == from {
		return colon
	}
	return at
}

// block returns the position after the lines that belong to an entry's value:
// lines with a deeper indentation, and the dashes of a list.
func (e *editor) block(x *entry) int {
	key := e.offset(x.node.Key.GetToken())
	indent := key - e.lineStart(key)
	_, isList := x.node.Value.(*ast.SequenceNode)
	_, literal := x.node.Value.(*ast.LiteralNode)
	end := e.lineEnd(key)
	for at := end; at < len(e.src); {
		next := e.lineEnd(at)
		line := string(bytes.TrimRight(e.src[at:next], "\r\n"))
		text := strings.TrimLeft(line, " \t")
		in := len(line) - len(text)
		switch {
		case text == "" || text[0] == '#' && !(literal && in > indent):
			at = next // belongs to what follows, if that belongs
			continue
		case in > indent, isList && in == indent && (text == "-" || strings.HasPrefix(text, "- ")):
			at, end = next, next
			continue
		}
		break
	}
	return end
}
