package agent

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a word can be after the shell has expanded it.
type value struct {
	text string
	open bool // anything can follow the text
	glob bool // it has special characters of a glob
}

// arg are the values that one argument can have.
type arg []value

// plain returns the argument, if it can have only one value.
func (a arg) plain() (string, bool) {
	if len(a) != 1 || a[0].open {
		return "", false
	}
	return a[0].text, true
}

// start returns the known start of the argument.
func (a arg) start() string {
	if len(a) == 0 {
		return ""
	}
	return a[0].text
}

// elsewhere is the start of paths that are outside the repository, wherever that
// is: home directories and temporary files.
const elsewhere = "/dev/null"

// words returns all values of some words.
func (r *changeRun) words(all []*syntax.Word) []value {
	var values []value
	for _, w := range all {
		values = append(values, r.word(w)...)
	}
	if len(values) > mostValues {
		return []value{{open: true}}
	}
	return values
}

// word returns the values of a word. It follows the commands in it.
func (r *changeRun) word(w *syntax.Word) arg {
	if w == nil {
		return nil
	}
	copied := *w
	syntax.SplitBraces(&copied)
	return r.parts(copied.Parts, false)
}

// args returns the arguments that a word becomes: braces make several.
func (r *changeRun) args(w *syntax.Word) []arg {
	copied := *w
	values := r.word(w)
	if !syntax.SplitBraces(&copied) {
		return []arg{values}
	}
	var all []arg
	for _, v := range values {
		all = append(all, arg{v})
	}
	return all
}

func (r *changeRun) parts(all []syntax.WordPart, quoted bool) arg {
	values := arg{{}}
	for i, p := range all {
		next := r.part(p, quoted, i == 0)
		var joined arg
		for _, a := range values {
			if a.open {
				joined = append(joined, a)
				continue
			}
			for _, b := range next {
				joined = append(joined, value{text: a.text + b.text, open: b.open, glob: a.glob || b.glob})
			}
		}
		if len(joined) > mostValues {
			return arg{{open: true}}
		}
		values = joined
	}
	return values
}

func (r *changeRun) part(p syntax.WordPart, quoted, first bool) arg {
	switch p := p.(type) {
	case *syntax.Lit:
		return arg{literalPart(p.Value, quoted, first)}
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			var ok bool
			if text, ok = unescape(text); !ok {
				return arg{{open: true}}
			}
		}
		return arg{{text: text, glob: strings.Contains(text, "*")}}
	case *syntax.DblQuoted:
		return r.parts(p.Parts, true)
	case *syntax.BraceExp:
		if p.Sequence {
			return arg{{open: true}}
		}
		var all arg
		for _, e := range p.Elems {
			all = append(all, r.parts(e.Parts, false)...)
		}
		return all
	case *syntax.ParamExp:
		return r.variable(p, quoted)
	case *syntax.CmdSubst:
		r.apart(func() { r.stmts(p.Stmts) })
		return r.output(p)
	case *syntax.ProcSubst:
		r.apart(func() { r.stmts(p.Stmts) })
		return arg{{text: elsewhere}}
	}
	r.nested(p)
	return arg{{open: true}}
}

// literalPart returns a part of a word without its escapes.
func literalPart(text string, quoted, first bool) value {
	if quoted {
		text = inQuotes().ReplaceAllString(text, "$1")
		return value{text: text, glob: strings.Contains(text, "*")}
	}
	var v value
	var b strings.Builder
	if first && (text == "~" || strings.HasPrefix(text, "~/")) {
		b.WriteString(elsewhere)
		text = text[1:]
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != '\n' {
				b.WriteByte(text[i])
			}
		default:
			v.glob = v.glob || strings.IndexByte(globChars, c) >= 0
			b.WriteByte(c)
		}
	}
	v.text = b.String()
	return v
}

// variable returns what a variable might contain.
func (r *changeRun) variable(p *syntax.ParamExp, quoted bool) arg {
	changed := p.Flags != nil || p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || len(p.Modifiers) > 0 || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil
	if p.Param == nil || changed {
		r.nested(p)
		return arg{{open: true}}
	}
	switch name := p.Param.Value; name {
	case "HOME", "TMPDIR":
		return arg{{text: elsewhere}}
	case "PWD":
		return arg(r.dirs)
	default:
		several := func(v value) bool { return !quoted && strings.ContainsAny(v.text, " \t\n") } // the shell splits it
		if known := r.vars[name]; len(known) > 0 && !slices.ContainsFunc(known, several) {
			return known
		}
	}
	return arg{{open: true}}
}

// output returns what some substitutions are known to contain.
func (r *changeRun) output(p *syntax.CmdSubst) arg {
	unknown := arg{{open: true}}
	if len(p.Stmts) != 1 {
		return unknown
	}
	call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return unknown
	}
	var words []string
	for _, w := range call.Args {
		text, ok := literal(w)
		if !ok {
			return unknown
		}
		words = append(words, text)
	}
	switch line := strings.Join(words, " "); {
	case line == "pwd":
		return arg(r.dirs)
	case line == "git rev-parse --show-toplevel":
		return arg{{text: r.root}}
	case line == "mktemp" || line == "mktemp -d":
		return arg{{text: elsewhere}}
	}
	return unknown
}

// assign adds to what a variable might contain. A later value does not replace an
// earlier one, because the assignment might not run.
func (r *changeRun) assign(name string, values []value) {
	all := r.union(r.vars[name], values)
	if len(r.vars[name])+len(values) > mostDirs {
		all = []value{{open: true}}
	}
	r.vars[name] = all
}

// assignment follows an assignment of a line.
func (r *changeRun) assignment(a *syntax.Assign) {
	if a.Name == nil {
		if a.Value != nil {
			r.word(a.Value)
		}
		return
	}
	switch {
	case a.Append || a.Array != nil || a.Index != nil:
		r.nested(a)
		r.assign(a.Name.Value, []value{{open: true}})
	case a.Value != nil:
		r.assign(a.Name.Value, r.word(a.Value))
	case !a.Naked:
		r.assign(a.Name.Value, []value{{}})
	}
}

// enter follows a change of the directory.
func (r *changeRun) enter(to arg) {
	var all []value
	for _, v := range to {
		for _, dir := range r.dirs {
			next := value{text: path.Join(base(dir, v.text), v.text), open: dir.open && !path.IsAbs(v.text)}
			switch {
			case v.open && v.text == "":
				next = value{text: r.root, open: true}
			case v.open || v.glob:
				fixed := v.text
				if i := strings.IndexAny(fixed, globChars); v.glob && i >= 0 {
					fixed = fixed[:i]
				}
				next = value{text: path.Join(base(dir, v.text), cutLast(fixed)), open: true}
			}
			all = r.union(all, []value{next})
		}
	}
	if len(all) > 0 {
		r.dirs = all
	}
}
