package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds on what a reader can hold in mind, in lines.
const (
	LongFile     = 500 // worth a look
	MaxFile      = 800
	MaxFunction  = 100
	MaxFunction5 = 55 // of the longest 5 %: the 95th percentile
)

// FileSizes checks how long files are. Files above LongFile are returned as
// notes, those above MaxFile as breaches.
func (t *Tree) FileSizes() (notes, bad []Breach, err error) {
	for _, name := range t.Files {
		if !isGo(name) {
			continue
		}
		text, err := t.read(name)
		if err != nil {
			return nil, nil, err
		}
		lines := strings.Count(text, "\n")
		switch {
		case lines <= LongFile || isGenerated(text):
		case lines > MaxFile:
			bad = append(bad, Breach{File: name, What: fmt.Sprintf("has %d lines, %d are allowed", lines, MaxFile)})
		default:
			notes = append(notes, Breach{File: name, What: fmt.Sprintf("has %d lines, %d are plenty", lines, LongFile)})
		}
	}
	return notes, bad, nil
}

// FunctionSizes checks how long functions are: each one, and the 95th
// percentile of all. Tests are left out: a table of cases may be long.
func (t *Tree) FunctionSizes() ([]Breach, error) {
	var bad []Breach
	var sizes []int
	err := t.each(func(name string, fset *token.FileSet, f *ast.File) {
		if isTest(name) {
			return
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			lines := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
			sizes = append(sizes, lines)
			if lines > MaxFunction {
				bad = append(bad, Breach{File: name, Line: fset.Position(fn.Pos()).Line,
					What: fmt.Sprintf("%s has %d lines, %d are allowed", fn.Name.Name, lines, MaxFunction)})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(sizes)
	if n := len(sizes); n > 0 {
		if p95 := sizes[min(n*95/100, n-1)]; p95 > MaxFunction5 {
			bad = append(bad, Breach{File: ".", What: fmt.Sprintf("the 95th percentile of functions has %d lines, %d are allowed", p95, MaxFunction5)})
		}
	}
	return bad, nil
}

// each parses every Go file that somebody wrote. A file that does not parse is
// the compiler's to complain about.
func (t *Tree) each(visit func(name string, fset *token.FileSet, f *ast.File)) error {
	for _, name := range t.Files {
		if !isGo(name) {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, filepath.Join(t.Root, name), nil, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if ast.IsGenerated(f) {
			continue
		}
		visit(name, fset, f)
	}
	return nil
}

// Calls checks for calls that are wrong in their place: a sleep in a test, and a
// new context outside of cmd.
func (t *Tree) Calls() ([]Breach, error) {
	var bad []Breach
	err := t.each(func(name string, fset *token.FileSet, f *ast.File) {
		imported := imports(f)
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			line := fset.Position(sel.Pos()).Line
			switch imported[pkg.Name] + "." + sel.Sel.Name {
			case "time.Sleep":
				if isTest(name) {
					bad = append(bad, Breach{name, line, "a test does not sleep; wait for what should happen"})
				}
			case "context.Background", "context.TODO":
				if !isTest(name) && !strings.HasPrefix(name, "cmd/") {
					bad = append(bad, Breach{name, line, "a context comes from the caller"})
				}
			}
			return true
		})
	})
	return bad, err
}

// imports maps the name a file uses for a package to its path.
func imports(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = path
	}
	return names
}
