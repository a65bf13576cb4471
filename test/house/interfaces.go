package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// MaxMethods bounds the methods of an interface, embedded ones counted.
const MaxMethods = 12

// narrow are the packages whose interfaces are bounded, with those below them.
var narrow = []string{"store", "fabric", "api"}

// declared is an interface as its package declares it. Methods that come from an
// interface that is not in the tree cannot be counted.
type declared struct {
	file    string
	line    int
	methods []string
	embeds  []string // directory and name, such as store.Reader
}

// Interfaces checks how many methods interfaces have. An implementation, a fake
// and a reader of the code have to know all of them.
func (t *Tree) Interfaces(module string) ([]Breach, error) {
	all := map[string]declared{}
	err := t.each(func(name string, fset *token.FileSet, f *ast.File) {
		if isTest(name) {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if i, ok := spec.Type.(*ast.InterfaceType); ok {
				d := declaredBy(i, module, path.Dir(name), imports(f))
				d.file, d.line = name, fset.Position(spec.Pos()).Line
				all[path.Dir(name)+"."+spec.Name.Name] = d
			}
			return true
		})
	})
	var bad []Breach
	for name, d := range all {
		if top, _, _ := strings.Cut(d.file, "/"); !slices.Contains(narrow, top) {
			continue
		}
		methods := map[string]bool{}
		if unknown := collect(all, name, methods); unknown != "" {
			bad = append(bad, Breach{d.file, d.line, fmt.Sprintf("%s embeds %s, whose methods cannot be counted; list them", name, unknown)})
		}
		if len(methods) > MaxMethods {
			bad = append(bad, Breach{d.file, d.line, fmt.Sprintf("%s has %d methods, %d are allowed", name, len(methods), MaxMethods)})
		}
	}
	slices.SortFunc(bad, func(a, b Breach) int { return strings.Compare(a.String(), b.String()) })
	return bad, err
}

func declaredBy(i *ast.InterfaceType, module, dir string, imported map[string]string) (d declared) {
	for _, field := range i.Methods.List {
		for _, name := range field.Names {
			d.methods = append(d.methods, name.Name)
		}
		if len(field.Names) > 0 {
			continue
		}
		switch e := field.Type.(type) {
		case *ast.Ident:
			d.embeds = append(d.embeds, dir+"."+e.Name)
		case *ast.SelectorExpr:
			from := imported[e.X.(*ast.Ident).Name]
			d.embeds = append(d.embeds, strings.TrimPrefix(from, module+"/")+"."+e.Sel.Name)
		}
	}
	return d
}

// collect gathers the methods of an interface and returns the name of one that
// is not in the tree, if there is one.
func collect(all map[string]declared, name string, methods map[string]bool) (unknown string) {
	d, ok := all[name]
	if !ok {
		return name
	}
	for _, m := range d.methods {
		methods[m] = true
	}
	for _, e := range d.embeds {
		if u := collect(all, e, methods); u != "" {
			unknown = u
		}
	}
	return unknown
}
