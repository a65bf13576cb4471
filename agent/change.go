package agent

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"coppice/lock"
)

// Changes returns what a shell line changes in the repository at dir, in which
// it starts: names of locks, which are files, globs and trees, in order.
//
// Programs that are known to change files count, and redirections. All other
// programs are assumed to change nothing: a script, a test or a build can do
// anything. What the shell expands and the line does not show counts as
// everything below the longest known part of the path. A line that cannot be
// parsed changes everything.
func Changes(dir, line string) []string { return changes(dir, dir, line) }

// changes is Changes for a line that starts in another directory.
func changes(root, cwd, line string) []string {
	root = path.Clean("/" + root)
	r := &changeRun{
		root: root, dirs: []value{{text: path.Clean("/" + cwd)}}, vars: map[string][]value{}, funcs: map[string]*syntax.Stmt{},
		names: map[string]bool{}, left: mostSteps,
	}
	r.line(line)
	if r.names[wholeTree] {
		return []string{wholeTree}
	}
	return slices.Sorted(maps.Keys(r.names))
}

const (
	mostSteps  = 5000 // statements of one line, loops counted twice
	mostValues = 32   // values of one word
	mostDirs   = 8    // directories in which a command might run
	mostNested = 12   // lines within lines, and functions within functions
)

// changeRun follows a shell line without running it.
type changeRun struct {
	root  string
	dirs  []value                 // where the shell might be: absolute paths
	vars  map[string][]value      // what variables might contain
	funcs map[string]*syntax.Stmt // the line's own functions
	names map[string]bool         // the result
	left  int                     // steps
	depth int
}

// all records that the line might change everything.
func (r *changeRun) all() { r.names[wholeTree] = true }

// line follows a line.
func (r *changeRun) line(text string) {
	if r.depth >= mostNested {
		r.all()
		return
	}
	file, ok := parse(text)
	if !ok {
		r.all()
		return
	}
	r.depth++
	r.stmts(file.Stmts)
	r.depth--
}

func (r *changeRun) stmts(all []*syntax.Stmt) {
	for _, st := range all {
		r.stmt(st, false)
	}
}

// apart follows something in a separate shell: what it does to the directory does
// not matter after it.
func (r *changeRun) apart(f func()) {
	dirs := r.dirs
	f()
	r.dirs = dirs
}

// stmt follows a statement. piped says that it reads the output of another one.
func (r *changeRun) stmt(st *syntax.Stmt, piped bool) {
	if r.left--; r.left < 0 {
		r.all()
	}
	if r.names[wholeTree] {
		return // nothing more can be added
	}
	if st.Background || st.Coprocess {
		r.apart(func() { r.command(st, piped) })
		return
	}
	r.command(st, piped)
}

func (r *changeRun) command(st *syntax.Stmt, piped bool) {
	r.redirections(st.Redirs)
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		r.call(c, st.Redirs, piped)
	case *syntax.BinaryCmd:
		r.binary(c)
	case *syntax.Block:
		r.stmts(c.Stmts)
	case *syntax.Subshell:
		r.apart(func() { r.stmts(c.Stmts) })
	case *syntax.IfClause:
		r.stmts(c.Cond)
		r.branches(c)
	case *syntax.WhileClause:
		r.loop(func() { r.stmts(c.Cond); r.stmts(c.Do) })
	case *syntax.ForClause:
		if each, ok := c.Loop.(*syntax.WordIter); ok {
			r.assign(each.Name.Value, r.words(each.Items))
			if len(each.Items) == 0 {
				r.assign(each.Name.Value, []value{{open: true}})
			}
		} else {
			r.nested(c.Loop)
		}
		r.loop(func() { r.stmts(c.Do) })
	case *syntax.CaseClause:
		r.nested(c.Word)
		var all []func()
		for _, item := range c.Items {
			all = append(all, func() { r.stmts(item.Stmts) })
		}
		r.either(all...)
	case *syntax.FuncDecl:
		for _, name := range append(slices.Clone(c.Names), c.Name) {
			if name != nil {
				r.funcs[name.Value] = c.Body
			}
		}
		r.apart(func() { r.stmt(c.Body, false) })
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.stmt(c.Stmt, piped)
		}
	case *syntax.CoprocClause:
		r.apart(func() { r.stmt(c.Stmt, false) })
	case *syntax.DeclClause:
		for _, a := range c.Args {
			r.assignment(a)
		}
	case nil:
	default:
		r.nested(c)
	}
}

// binary follows two commands that are connected.
func (r *changeRun) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt:
		r.stmt(c.X, false)
		r.stmt(c.Y, false)
	case syntax.OrStmt:
		before := r.dirs
		r.stmt(c.X, false)
		after := r.dirs
		r.dirs = r.union(before, after)
		r.stmt(c.Y, false)
		if leaves(c.Y) {
			r.dirs = after
		} else {
			r.dirs = r.union(after, r.dirs)
		}
	default: // pipes
		r.apart(func() { r.stmt(c.X, false) })
		r.apart(func() { r.stmt(c.Y, true) })
	}
}

// leaves reports whether nothing runs after a statement.
func leaves(st *syntax.Stmt) bool {
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 {
			name, _ := literal(c.Args[0])
			return name == "exit" || name == "return"
		}
	case *syntax.Block:
		return len(c.Stmts) > 0 && leaves(c.Stmts[len(c.Stmts)-1])
	}
	return false
}

// branches follows the parts of an if, of which one runs.
func (r *changeRun) branches(c *syntax.IfClause) {
	r.either(func() { r.stmts(c.Then) }, func() {
		if c.Else != nil {
			r.stmts(c.Else.Cond)
			r.branches(c.Else)
		}
	})
}

// either follows parts of which at most one runs.
func (r *changeRun) either(parts ...func()) {
	before := r.dirs
	ends := before
	for _, f := range parts {
		r.dirs = before
		f()
		ends = r.union(ends, r.dirs)
	}
	r.dirs = ends
}

// loop follows a part that runs any number of times. The second time it has the
// directory and the variables that the first left.
func (r *changeRun) loop(f func()) {
	r.either(f)
	r.either(f)
}

// union joins places in which the shell might be.
func (r *changeRun) union(a, b []value) []value {
	all := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	if len(all) > mostDirs {
		return []value{{text: r.root, open: true}}
	}
	return all
}

// redirections follows the files that a statement writes.
func (r *changeRun) redirections(all []*syntax.Redirect) {
	for _, d := range all {
		to := r.word(d.Word)
		if d.Hdoc != nil {
			r.nested(d.Hdoc)
		}
		switch d.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.RdrAllClob, syntax.AppAll, syntax.AppAllClob:
			r.changed(to, false)
		case syntax.DplOut:
			if name, ok := to.plain(); !ok || strings.Trim(name, "0123456789-") != "" {
				r.changed(to, false)
			}
		}
	}
}

// nested follows the commands in substitutions of a node.
func (r *changeRun) nested(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.apart(func() { r.stmts(n.Stmts) })
			return false
		case *syntax.ProcSubst:
			r.apart(func() { r.stmts(n.Stmts) })
			return false
		case *syntax.Stmt: // the caller follows it
			return false
		}
		return true
	})
}

// changed records that files change. deep says that directories change with
// everything in them.
func (r *changeRun) changed(files arg, deep bool) {
	for _, f := range files {
		for _, dir := range r.dirs {
			r.change(f, dir, deep)
		}
	}
}

func (r *changeRun) change(f, dir value, deep bool) {
	switch {
	case f.open && f.text == "":
		r.all() // it can be an absolute path
		return
	case !path.IsAbs(f.text) && dir.open:
		r.tree(dir.text)
		return
	case f.open:
		r.tree(path.Join(base(dir, f.text), cutLast(f.text)))
		return
	}
	p := path.Join(base(dir, f.text), f.text)
	if !f.glob {
		if name, ok := lockName(r.root, p); ok {
			r.names[name] = true
		}
		return
	}
	before, last := path.Split(p)
	if deep || strings.ContainsAny(before, globChars) || strings.Contains(last, "**") || strings.ContainsAny(last, "[{") {
		fixed := p[:strings.IndexAny(p, globChars+"{")]
		r.tree(cutLast(fixed))
		return
	}
	if name, ok := lockName(r.root, p); ok {
		r.names[name] = true
	}
}

// base returns the directory to which a path is relative.
func base(dir value, p string) string {
	if path.IsAbs(p) {
		return "/"
	}
	return dir.text
}

// cutLast returns a path without what follows its last slash.
func cutLast(p string) string { return p[:strings.LastIndexByte(p, '/')+1] }

// tree records that everything in a directory might change.
func (r *changeRun) tree(dir string) {
	name, ok := lockName(r.root, dir)
	switch {
	case !ok:
	case name == wholeTree:
		r.all()
	default:
		r.names[lock.TreePrefix+name] = true
	}
}

// here records that everything in the current directory might change.
func (r *changeRun) here() { r.changed(arg{{text: "."}}, true) }

// files records that files of the current directory change.
func (r *changeRun) files(names ...string) {
	for _, n := range names {
		r.changed(arg{{text: n}}, false)
	}
}
