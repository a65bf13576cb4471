package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// troubleshooting lists symptoms. A row that begins with a quoted text shows an
// error or a reason as the program prints it, with … in place of what varies.
const troubleshooting = "docs/troubleshooting.md"

// Quotes checks that the texts quoted in the troubleshooting page are in the code.
func (t *Tree) Quotes() ([]Breach, error) {
	page, err := t.read(troubleshooting)
	if err != nil {
		return nil, err
	}
	code, err := t.code()
	if err != nil {
		return nil, err
	}
	var bad []Breach
	n := 0
	for line := range strings.Lines(page) {
		n++
		row, ok := strings.CutPrefix(line, "| `")
		if !ok {
			continue
		}
		quote, _, _ := strings.Cut(row, "`")
		for part := range strings.SplitSeq(quote, "…") {
			if part = strings.Trim(part, " :,"); !strings.Contains(code, part) {
				bad = append(bad, Breach{troubleshooting, n, "the code does not print " + part})
			}
		}
	}
	return bad, nil
}

// code returns all Go code except tests.
func (t *Tree) code() (string, error) {
	var all strings.Builder
	for _, name := range t.Files {
		if !isGo(name) || isTest(name) {
			continue
		}
		text, err := t.read(name)
		if err != nil {
			return "", err
		}
		all.WriteString(text)
	}
	return all.String(), nil
}

var treeRE = regexp.MustCompile(`(?m)^([a-z]+)/(?:[a-z]+/)? {2,}(.*)$`)

// Packages checks that the tree of packages in the README lists every directory
// that has Go code, and every package of internal.
func (t *Tree) Packages() ([]Breach, error) {
	readme, err := t.read("README.md")
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	for _, row := range treeRE.FindAllStringSubmatch(readme, -1) {
		listed[row[1]] = true
		if row[1] == "internal" {
			for _, name := range strings.FieldsFunc(row[2], func(r rune) bool { return r == ' ' || r == ',' }) {
				listed["internal/"+name] = true
			}
		}
	}
	var bad []Breach
	seen := map[string]bool{}
	for _, file := range t.Files {
		dirs := strings.Split(path.Dir(file), "/")
		name := dirs[0]
		if name == "internal" && len(dirs) > 1 {
			name += "/" + dirs[1]
		}
		if isGo(file) && name != "." && !seen[name] && !listed[name] {
			bad = append(bad, Breach{File: "README.md", What: "the tree of packages does not list " + name})
		}
		seen[name] = true
	}
	for name := range listed {
		if !strings.Contains(name, "/") && !slices.ContainsFunc(t.Files, func(f string) bool { return strings.HasPrefix(f, name+"/") }) {
			bad = append(bad, Breach{File: "README.md", What: "the tree of packages lists " + name + ", which does not exist"})
		}
	}
	return bad, nil
}
