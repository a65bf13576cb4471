// Package setup prepares a repository and a machine: `coppice init` reads the
// repository and writes its coppice.yaml, `coppice doctor` checks the machine
// and reports what is missing.
//
// The repository is untrusted. Detection reads a bounded amount of a fixed list
// of files at its root, follows no symbolic link out of it, and runs nothing
// that it finds.
package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"sync"
)

// Finding is something that was recognized, the file that shows it, and what
// follows.
type Finding struct {
	Name   string   `json:"name"`             // Go, Next, Laravel, …
	File   string   `json:"file"`             // the file that shows it
	Checks []string `json:"checks,omitempty"` // commands that judge a tree
	Link   []string `json:"link,omitempty"`   // folders worth sharing between workspaces, if git ignores them
	Copy   []string `json:"copy,omitempty"`   // files a workspace needs, if git ignores them

	Serve    string  `json:"serve,omitempty"`    // serves the app on $COPPICE_PORT
	Docker   *Docker `json:"docker,omitempty"`   // where commands can run
	Inside   bool    `json:"inside,omitempty"`   // they can run only there
	Features string  `json:"features,omitempty"` // a list of tasks
}

// maxRead is how much of a file is read.
const maxRead = 1 << 20

// repo is the repository as detection sees it.
type repo struct {
	root *os.Root
}

// Detect reads the files at the root of a repository. Its findings are ordered
// from specific to general.
func Detect(dir string) ([]Finding, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() // nothing was written
	r := repo{root}
	var found []Finding
	for _, detect := range []func(repo) []Finding{golang, rust, php, ruby, node, python, java, dotnet, makefile, docker, environment, featureList} {
		found = append(found, detect(r)...)
	}
	return found, nil
}

// read returns the start of a regular file, nil if it does not exist.
func (r repo) read(name string) []byte {
	info, err := r.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := r.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return nil
	}
	return b
}

func (r repo) has(name string) bool {
	_, err := r.root.Stat(name)
	return err == nil
}

func (r repo) isFile(name string) bool {
	info, err := r.root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// first returns the first of the files that exists.
func (r repo) first(names ...string) string {
	for _, n := range names {
		if r.isFile(n) {
			return n
		}
	}
	return ""
}

// match returns the first file at the root that matches a pattern.
func (r repo) match(patterns ...string) string {
	dir, err := r.root.Open(".")
	if err != nil {
		return ""
	}
	defer dir.Close() // nothing was written
	var names []string
	for len(names) < 10_000 {
		entries, err := dir.ReadDir(256)
		for _, e := range entries {
			if e.Type().IsRegular() {
				names = append(names, e.Name())
			}
		}
		if errors.Is(err, io.EOF) || err != nil {
			break
		}
	}
	slices.Sort(names)
	for _, p := range patterns {
		for _, n := range names {
			if ok, err := path.Match(p, n); ok && err == nil {
				return n
			}
		}
	}
	return ""
}

// mentions reports whether a text contains a whole word.
func mentions(text []byte, word string) bool {
	return regexp.MustCompile(`(?i)(^|[^a-z0-9_-])` + regexp.QuoteMeta(word) + `($|[^a-z0-9_-])`).Match(text)
}

func golang(r repo) []Finding {
	file := r.first("go.mod", "go.work")
	if file == "" {
		return nil
	}
	f := Finding{Name: "Go", File: file, Checks: []string{"go vet ./...", "go test ./..."}}
	if r.has("vendor/modules.txt") {
		f.Link = []string{"vendor"}
	}
	return []Finding{f}
}

func rust(r repo) []Finding {
	if !r.isFile("Cargo.toml") {
		return nil
	}
	return []Finding{{Name: "Rust", File: "Cargo.toml", Checks: []string{"cargo test"}}}
}

func dotnet(r repo) []Finding {
	file := r.match("*.sln", "*.slnx", "*.csproj", "*.fsproj")
	if file == "" {
		return nil
	}
	f := Finding{Name: ".NET", File: file, Checks: []string{"dotnet test"}}
	if bytes.Contains(r.read(file), []byte("Microsoft.NET.Sdk.Web")) {
		f.Serve = "dotnet run --urls http://127.0.0.1:$COPPICE_PORT"
	}
	return []Finding{f}
}

func java(r repo) []Finding {
	if r.isFile("pom.xml") {
		run := pick(r.isFile("mvnw"), "./mvnw", "mvn")
		f := Finding{Name: "Maven", File: "pom.xml", Checks: []string{run + " -q test"}}
		if bytes.Contains(r.read("pom.xml"), []byte("spring-boot-maven-plugin")) {
			f.Serve = run + " spring-boot:run -Dspring-boot.run.arguments=--server.port=$COPPICE_PORT"
		}
		return []Finding{f}
	}
	if file := r.first("build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle"); file != "" {
		run := pick(r.isFile("gradlew"), "./gradlew", "gradle")
		f := Finding{Name: "Gradle", File: file, Checks: []string{run + " test"}}
		if bytes.Contains(r.read(file), []byte("org.springframework.boot")) {
			f.Serve = run + " bootRun --args=--server.port=$COPPICE_PORT"
		}
		return []Finding{f}
	}
	return nil
}

func pick(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

var target = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(lint|check|test)[ \t]*:([^=]|$)`) })

// makefile proposes lint and test, or check if there is no test.
func makefile(r repo) []Finding {
	file := r.first("GNUmakefile", "makefile", "Makefile")
	if file == "" {
		return nil
	}
	has := map[string]bool{}
	for _, m := range target().FindAllSubmatch(r.read(file), -1) {
		has[string(m[1])] = true
	}
	f := Finding{Name: "Make", File: file}
	for _, name := range []string{"lint", "check", "test"} {
		if has[name] && (name != "check" || !has["test"]) {
			f.Checks = append(f.Checks, "make "+name)
		}
	}
	if f.Checks == nil {
		return nil
	}
	return []Finding{f}
}

// environment finds local settings that a workspace needs a copy of.
func environment(r repo) []Finding {
	var found []Finding
	for _, name := range []string{".env", ".env.local"} {
		if r.isFile(name) {
			found = append(found, Finding{Name: "local settings", File: name, Copy: []string{name}})
		}
	}
	return found
}

// decode parses JSON of any shape.
func decode(b []byte, v any) bool {
	return len(b) > 0 && json.Unmarshal(bytes.TrimPrefix(b, []byte("\uFEFF")), v) == nil
}
