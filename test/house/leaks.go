package house

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// Leaks checks that the tests of a package that starts goroutines report those
// that are left at the end.
func (t *Tree) Leaks() ([]Breach, error) {
	starts, tested, checked := map[string]Breach{}, map[string]bool{}, map[string]bool{}
	err := t.each(func(name string, fset *token.FileSet, f *ast.File) {
		dir := path.Dir(name)
		if strings.HasSuffix(name, "_test.go") {
			tested[dir] = true
			checked[dir] = checked[dir] || slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"go.uber.org/goleak"` })
			return
		}
		if isTest(name) {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if startsGoroutine(n) {
				starts[dir] = Breach{name, fset.Position(n.Pos()).Line, "a goroutine is started, and the package's tests do not check for leaks: call goleak.VerifyTestMain in TestMain"}
			}
			return true
		})
	})
	maps.DeleteFunc(starts, func(dir string, _ Breach) bool { return checked[dir] || !tested[dir] })
	return slices.SortedFunc(maps.Values(starts), func(a, b Breach) int { return strings.Compare(a.File, b.File) }), err
}

// startsGoroutine reports whether code is a go statement or calls a method Go,
// as of a sync.WaitGroup.
func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		method, ok := n.Fun.(*ast.SelectorExpr)
		return ok && method.Sel.Name == "Go"
	}
	return false
}
