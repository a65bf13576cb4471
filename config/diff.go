package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"coppice"
)

// The parts of a policy that are in files next to coppice.yaml.
const (
	promptsPart = "prompts"
	contextPart = "context"
)

// Limits of a diff.
const (
	mostDiff     = 16 << 10 // bytes
	mostDiffRows = 1000     // lines of each side that can differ
	around       = 3        // unchanged lines before and after a changed one
)

// Parts names every part of a policy, in the order of the file.
func Parts() []string {
	var names []string
	for _, k := range Explain(coppice.DefaultPolicy(), Source{}) {
		name, _, _ := strings.Cut(k.Name, ".")
		name, _, _ = strings.Cut(name, "[")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return append(names, promptsPart, contextPart)
}

// Diff returns how parts of two policies differ, as a unified diff of their
// YAML, "" if they do not. Its size is limited.
func Diff(a, b coppice.Policy, parts []string) string {
	var out strings.Builder
	for _, part := range parts {
		before, after := rendered(a, part), rendered(b, part)
		if before == after {
			continue
		}
		name := PartPath(part)
		if name == File {
			name += ": " + part
		}
		fmt.Fprintf(&out, "--- %s\n+++ %s\n%s", name, name, unified(lines(before), lines(after)))
	}
	text := out.String()
	if len(text) > mostDiff {
		text = strings.ToValidUTF8(text[:mostDiff], "") + "\n… and more; see the files themselves\n"
	}
	return text
}

// PartPath returns the file or the folder that has a part of a policy.
func PartPath(part string) string {
	switch part {
	case promptsPart:
		return PromptDir
	case contextPart:
		return contextRoot
	}
	return File
}

// rendered writes a part as YAML, "" if it is empty.
func rendered(p coppice.Policy, part string) string {
	if part == contextPart {
		var b strings.Builder
		for _, f := range p.Context {
			fmt.Fprintf(&b, "%s (%d bytes):\n%s\n", f.Name, f.Size, strings.TrimRight(f.Text, "\n"))
		}
		return b.String()
	}
	if part == promptsPart {
		var b strings.Builder
		for _, kind := range slices.Sorted(maps.Keys(p.Prompts)) {
			fmt.Fprintf(&b, "%s.md:\n%s\n", kind, strings.TrimRight(p.Prompts[kind], "\n"))
		}
		return b.String()
	}
	value := treeOf(p)[part]
	if value == nil {
		return ""
	}
	b, err := yaml.Marshal(map[string]any{part: value})
	if err != nil {
		return string(coppice.Raw(value)) + "\n"
	}
	return string(b)
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// row is a line of a diff: kept, removed or added.
type row struct {
	mark rune
	text string
}

// unified returns the body of a unified diff with one hunk.
func unified(a, b []string) string {
	list := rows(a, b)
	near := func(i int) bool {
		for j := max(0, i-around); j <= min(len(list)-1, i+around); j++ {
			if list[j].mark != ' ' {
				return true
			}
		}
		return false
	}
	var out strings.Builder
	skipped := true
	for i, r := range list {
		if !near(i) {
			skipped = true
			continue
		}
		if skipped {
			out.WriteString("@@\n")
			skipped = false
		}
		fmt.Fprintf(&out, "%c%s\n", r.mark, r.text)
	}
	return out.String()
}

// rows returns the steps from one list of lines to another. The common start
// and end are kept. The lines in between use the shortest sequence, up to the
// limit.
func rows(a, b []string) []row {
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []row
	for _, s := range a[:head] {
		out = append(out, row{' ', s})
	}
	out = append(out, shortest(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, s := range a[len(a)-tail:] {
		out = append(out, row{' ', s})
	}
	return out
}

func shortest(a, b []string) []row {
	cut := len(a) > mostDiffRows || len(b) > mostDiffRows
	a, b = a[:min(len(a), mostDiffRows)], b[:min(len(b), mostDiffRows)]
	common := make([][]int, len(a)+1) // of the rest
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []row
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, row{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, row{'-', a[i]})
			i++
		default:
			out = append(out, row{'+', b[j]})
			j++
		}
	}
	if cut {
		out = append(out, row{'…', "and more"})
	}
	return out
}

// With returns a policy with one key taken from another policy.
func With(p, from coppice.Policy, key string) (coppice.Policy, error) {
	path, err := parseKey(project, key)
	if err != nil {
		return coppice.Policy{}, err
	}
	tree, value := treeOf(p), lookup(treeOf(from), path)
	put(tree, path, value)
	out := coppice.Policy{}
	if err := json.Unmarshal(coppice.Raw(tree), &out); err != nil {
		return coppice.Policy{}, fmt.Errorf("reading back a policy with another %s: %w", key, err)
	}
	out.Prompts, out.Context, out.Problems = p.Prompts, p.Context, p.Problems
	return out, nil
}

// put sets the value at a path, or removes it if the value is nil.
func put(tree map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		below, ok := tree[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			tree[name] = below
		}
		tree = below
	}
	if last := path[len(path)-1]; value == nil {
		delete(tree, last)
	} else {
		tree[last] = value
	}
}
