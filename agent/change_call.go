package agent

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// input is what a command reads.
type input struct {
	piped bool
	text  string // of a here-document or here-string
	given bool   // there is such a text, and it is known
}

// invocation is one use of a program.
type invocation struct {
	*changeRun
	name string
	args []arg
	in   input
}

// call follows a command.
func (r *changeRun) call(c *syntax.CallExpr, redirs []*syntax.Redirect, piped bool) {
	for _, a := range c.Assigns {
		if len(c.Args) == 0 {
			r.assignment(a)
		} else { // the command gets it, the line does not
			r.nested(a)
		}
	}
	var args []arg
	for _, w := range c.Args {
		args = append(args, r.args(w)...)
	}
	r.run(args, inputOf(redirs, piped))
}

// inputOf returns what a command reads.
func inputOf(redirs []*syntax.Redirect, piped bool) input {
	in := input{piped: piped}
	for _, d := range redirs {
		switch text := d.Hdoc; d.Op {
		case syntax.WordHdoc:
			text = d.Word
			fallthrough
		case syntax.Hdoc, syntax.DashHdoc:
			if in.text, in.given = "", true; text != nil { // it can be empty
				in.text, in.given = literal(text)
			}
			in.piped = !in.given
		case syntax.RdrIn:
			in = input{}
		}
	}
	return in
}

// run follows the use of a program or function.
func (r *changeRun) run(args []arg, in input) {
	if len(args) == 0 {
		return
	}
	if r.depth >= mostNested {
		r.all()
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	for _, v := range args[0] {
		if v.open {
			r.all() // any program
			return
		}
		if body := r.funcs[v.text]; body != nil {
			r.stmt(body, in.piped)
			continue
		}
		name := path.Base(v.text)
		if p := programs()[name]; p != nil {
			p(&invocation{changeRun: r, name: name, args: args[1:], in: in})
		}
	}
}

// options are arguments, sorted.
type options struct {
	values map[string][]arg // of options; without a value, an empty list
	rest   []arg            // all others
	after  []arg            // those after --; rest has them too
	dashes bool             // there was a --
}

func (o options) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := o.values[n]; return ok })
}

// value returns the last value of the first of some options that has one.
func (o options) value(names ...string) (arg, bool) {
	for _, n := range names {
		if all := o.values[n]; len(all) > 0 {
			return all[len(all)-1], true
		}
	}
	return nil, false
}

// options sorts the arguments. takes lists the options that have a value, and
// a short one can be part of a group: -n 5, -n5, -xn 5, --num 5, --num=5.
func (c *invocation) options(takes string) options {
	o := options{values: map[string][]arg{}}
	valued := strings.Fields(takes)
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		text := a.start()
		name, v, equals := strings.Cut(text, "=")
		next := func(name string) {
			o.values[name] = append(o.values[name], nil)[:len(o.values[name])]
			if i+1 < len(c.args) {
				i++
				o.values[name] = append(o.values[name], c.args[i])
			}
		}
		switch {
		case o.dashes || len(text) < 2 || text[0] != '-':
			o.rest = append(o.rest, a)
			if o.dashes {
				o.after = append(o.after, a)
			}
		case text == "--":
			o.dashes = true
		case strings.HasPrefix(text, "--") || slices.Contains(valued, name): // some programs have long options with one dash
			switch {
			case equals:
				o.values[name] = append(o.values[name], arg{{text: v, open: a[0].open, glob: a[0].glob}})
			case slices.Contains(valued, name):
				next(name)
			default:
				o.values[name] = append(o.values[name], nil)[:len(o.values[name])]
			}
		default:
			o.group(a, valued, next)
		}
	}
	return o
}

// group sorts a group of short options.
func (o *options) group(a arg, valued []string, next func(string)) {
	text := a.start()
	if _, seen := o.values[text]; !seen {
		o.values[text] = []arg{}
	}
	if name, v, equals := strings.Cut(text, "="); equals {
		o.values[name] = append(o.values[name], arg{{text: v, open: a[0].open}})
	}
	for i := 1; i < len(text); i++ {
		name := "-" + text[i:i+1]
		if slices.Contains(valued, name) {
			if i+1 == len(text) {
				next(name)
			} else {
				o.values[name] = append(o.values[name], arg{{text: text[i+1:], open: a[0].open}})
			}
			return
		}
		if _, seen := o.values[name]; !seen {
			o.values[name] = []arg{}
		}
	}
}

// change records that arguments change.
func (c *invocation) change(all []arg, deep bool) {
	for _, a := range all {
		c.changed(a, deep)
	}
}

// within follows something in other directories.
func (c *invocation) within(dir arg, f func()) {
	c.apart(func() {
		if dir != nil {
			c.enter(dir)
		}
		f()
	})
}

// from returns the arguments after the first n.
func from(all []arg, n int) []arg { return all[min(n, len(all)):] }

var writes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|[^a-z_.])open\([^)]*['"][rb]*[wax+]|\.open\(\s*['"][wax]|write_(text|bytes)|writefile|appendfile|createwritestream|file_put_contents|unlink|rmtree|rmsync|rmdirsync|\brm\(|renames?(sync)?\(|os\.(remove|rename|replace|truncate|symlink|link)|shutil\.(copy|move)|copyfile|truncate\(|File\.(write|delete|rename|open)|IO\.write|FileUtils|inplace=|fileinput|subprocess|child_process|os\.system|system\(|popen|exec(sync)?\(|Deno\.(write|remove|rename)|Bun\.write|print\s*>|printf\s*>|\$\^I`)
})

// inline follows a program text of another language. It changes everything if it
// seems to write files, or to run other programs.
func (c *invocation) inline(text arg) {
	code, known := text.plain()
	if !known || writes().MatchString(code) {
		c.all()
	}
}
