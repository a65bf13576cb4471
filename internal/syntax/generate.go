//go:build ignore

// Generate writes the files of the languages in lexers/languages.txt into lexers,
// from the module of Chroma that go.mod names. They are not in the repository.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

func main() {
	if err := generate("lexers"); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(to string) error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	if err != nil {
		return fmt.Errorf("finding chroma: %w", err)
	}
	list, err := os.ReadFile(filepath.Join(to, "languages.txt"))
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(list)) {
		data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "lexers", "embedded", name+".xml"))
		if os.IsNotExist(err) {
			data, err = written(name)
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name+".xml"), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// written returns the file of a language that Chroma has as Go code. Some of these
// wrap the lexer in a struct.
func written(name string) ([]byte, error) {
	for l := lexers.Get(name); l != nil; {
		if r, ok := l.(*chroma.RegexLexer); ok {
			return marshal(r)
		}
		inner := reflect.Indirect(reflect.ValueOf(l)).FieldByName("Lexer")
		if !inner.IsValid() {
			break
		}
		l, _ = inner.Interface().(chroma.Lexer)
	}
	return nil, fmt.Errorf("chroma has no language %s", name)
}

// marshal writes a lexer as a file. A rule that passes a text to another lexer
// cannot be written if that one exists only as Go code: its text becomes a string,
// as in Go's raw strings.
func marshal(r *chroma.RegexLexer) ([]byte, error) {
	rules, err := r.Rules()
	if err != nil {
		return nil, err
	}
	with := func(rules chroma.Rules) ([]byte, error) {
		l, err := chroma.NewLexer(r.Config(), func() chroma.Rules { return rules })
		if err != nil {
			return nil, err
		}
		return chroma.Marshal(l)
	}
	for _, list := range rules {
		for i, rule := range list {
			if _, err := with(chroma.Rules{"root": {rule}}); err != nil {
				list[i].Type = chroma.LiteralString
			}
		}
	}
	return with(rules)
}
