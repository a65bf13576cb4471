package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// The name of a file shows what it does: methods of Intake are in intake files,
// functions that return a Decision in decide files.
func TestFilesShowWhatTheyDo(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if receiver(fn) == "Intake" && !strings.HasPrefix(name, "intake") {
				t.Errorf("%s: Intake.%s belongs in a file intake_*.go", name, fn.Name)
			}
			if receiver(fn) == "" && decides(fn) && !strings.HasPrefix(name, "decide_") {
				t.Errorf("%s: the decider %s belongs in a file decide_*.go", name, fn.Name)
			}
		}
	}
}

func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	e := fn.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	name, _ := e.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

func decides(fn *ast.FuncDecl) bool {
	if fn.Type.Results == nil || len(fn.Type.Results.List) != 1 {
		return false
	}
	star, ok := fn.Type.Results.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	name, ok := star.X.(*ast.Ident)
	return ok && name.Name == "Decision"
}
