//go:build firsthour && linux

package firsthour

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// file is a file of a repository, or a text at the end of an existing one.
type file struct {
	path, text string
	append     bool
}

// shell returns the command that writes it.
func (f file) shell() string {
	to := ">"
	if f.append {
		to = ">>"
	}
	return fmt.Sprintf("cat %s %s <<'END'\n%sEND", to, f.path, f.text)
}

// repository is a real repository, and the work that the model does in it.
type repository struct {
	name   string // of its directory
	fetch  func(dir string) error
	checks []string // that init has to propose

	try    string // a command with which the agent tries its work
	first  []file // lands as it is
	broken []file // its check fails
	fixed  file   // replaces the cause
	red    file   // fails on every commit that has it
}

const (
	pflagModule = "github.com/spf13/pflag" // in the version of go.mod
	deepEqual   = "deep-equal@1.0.1"       // the archive has its tests, which few archives have
)

var repositories = []repository{{
	name: "pflag", fetch: fetchModule, checks: []string{"go vet ./...", "go test ./..."},
	try: "go test -run TestCountSet .",
	first: []file{{"count_set.go", `package pflag

// CountSet returns how many flags were set.
func (f *FlagSet) CountSet() int {
	n := 0
	f.Visit(func(*Flag) { n++ })
	return n
}
`, false}, {"count_set_test.go", `package pflag

import "testing"

func TestCountSet(t *testing.T) {
	f := NewFlagSet("test", ContinueOnError)
	f.Bool("a", false, "")
	f.Bool("b", false, "")
	if err := f.Parse([]string{"--a"}); err != nil {
		t.Fatal(err)
	}
	if n := f.CountSet(); n != 1 {
		t.Errorf("CountSet() = %d, want 1", n)
	}
}
`, false}},
	broken: []file{{"names.go", `package pflag

// Names returns the names of all flags.
func (f *FlagSet) Names() []string {
	var names []string
	f.Visit(func(flag *Flag) { names = append(names, flag.Name) })
	return names
}
`, false}, {"names_test.go", `package pflag

import (
	"reflect"
	"testing"
)

func TestNames(t *testing.T) {
	f := NewFlagSet("test", ContinueOnError)
	f.Bool("a", false, "")
	f.Bool("b", false, "")
	if got := f.Names(); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("names of all: got %q, want a and b", got)
	}
}
`, false}},
	fixed: file{"names.go", `package pflag

// Names returns the names of all flags.
func (f *FlagSet) Names() []string {
	var names []string
	f.VisitAll(func(flag *Flag) { names = append(names, flag.Name) })
	return names
}
`, false},
	red: file{"unfinished_test.go", `package pflag

import "testing"

func TestUnfinished(t *testing.T) { t.Error("somebody has not finished this") }
`, false},
}, {
	name: "deep-equal", fetch: fetchPackage, checks: []string{"npm run test"},
	try: "npm test",
	first: []file{{"lib/count.js", `module.exports = function count(list, wanted, equal) {
  return list.filter(function (x) { return equal(x, wanted); }).length;
};
`, false}, {"test/cmp.js", `
test('count', function (t) {
  var count = require('../lib/count.js');
  t.equal(count([{ a: 1 }, { a: 2 }, { a: 1 }], { a: 1 }, equal), 2);
  t.end();
});
`, true}},
	broken: []file{{"lib/names.js", `module.exports = function names(object) {
  return Object.keys(object).filter(function (name) { return object[name]; });
};
`, false}, {"test/cmp.js", `
test('names of all', function (t) {
  t.deepEqual(require('../lib/names.js')({ a: 0, b: 1 }), ['a', 'b']);
  t.end();
});
`, true}},
	fixed: file{"lib/names.js", `module.exports = function names(object) {
  return Object.keys(object);
};
`, false},
	red: file{"test/cmp.js", `
test('unfinished', function (t) { t.fail('somebody has not finished this'); t.end(); });
`, true},
}}

// fetchModule copies a module of Go out of the module cache, after it is there.
func fetchModule(dir string) error {
	out, err := fetchWith(".", "go", "mod", "download", "-json", pflagModule)
	if err != nil {
		return err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(dir, "pflag"), os.DirFS(module.Dir))
}

// fetchPackage unpacks a package of npm, and installs what its tests need.
func fetchPackage(dir string) error {
	out, err := fetchWith(dir, "npm", "pack", "--silent", deepEqual)
	if err != nil {
		return err
	}
	lines := strings.Fields(string(out))
	if len(lines) == 0 {
		return errors.New("npm pack names no archive")
	}
	to := filepath.Join(dir, "deep-equal")
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	if _, err := fetchWith(dir, "tar", "-xzf", lines[len(lines)-1], "-C", to, "--strip-components=1"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, ".gitignore"), []byte("node_modules\n"), 0o644); err != nil {
		return err
	}
	_, err = fetchWith(to, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	return err
}

// fetchWith runs a program with the configuration of this machine.
func fetchWith(dir string, argv ...string) ([]byte, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var x *exec.ExitError
	if errors.As(err, &x) {
		err = fmt.Errorf("%s: %w: %s%s", strings.Join(argv, " "), err, out, x.Stderr)
	}
	return out, err
}
