package house

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// What cmd leaves to others: it starts the parts and connects them,
// and follows no file, log or queue itself.
var (
	// followed are packages that somebody needs who follows: a file watcher, and
	// the contracts without which no row is read and no work is taken.
	followed = []string{"github.com/fsnotify/fsnotify", "store", "fabric"}
	// follows are the methods of a store and a queue that wait for something new.
	follows = []string{"WaitEvent", "Watch", "TryTake"}
)

// CommandImports checks that no package below cmd imports what following needs.
func CommandImports(module string, packages []Package) []Breach {
	var bad []Breach
	for _, p := range packages {
		dir := strings.TrimPrefix(p.ImportPath, module+"/")
		if !strings.HasPrefix(dir, "cmd/") {
			continue
		}
		for _, imported := range p.Imports {
			if slices.Contains(followed, strings.TrimPrefix(imported, module+"/")) {
				bad = append(bad, Breach{File: dir, What: "imports " + imported + ": cmd only wires; what follows a file, a log or a queue belongs to control"})
			}
		}
	}
	return bad
}

// CommandCalls checks that nothing below cmd waits for a store or a queue.
func (t *Tree) CommandCalls() ([]Breach, error) {
	var bad []Breach
	err := t.each(func(name string, fset *token.FileSet, f *ast.File) {
		if !strings.HasPrefix(name, "cmd/") || isTest(name) {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(follows, sel.Sel.Name) {
				bad = append(bad, Breach{name, fset.Position(sel.Pos()).Line, sel.Sel.Name + " follows a log or a queue; that belongs to control"})
			}
			return true
		})
	})
	return bad, err
}
