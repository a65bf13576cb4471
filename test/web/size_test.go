//go:build linux

package web

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// firstLoad is how much script, compressed, a page may need before it is drawn.
const firstLoad = 250_000

func TestFirstLoadIsSmallAndOwn(t *testing.T) {
	t.Parallel()
	needs(t)
	dist := filepath.Join("..", "..", "web", "dist")
	page, err := os.ReadFile(filepath.Join(dist, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(string(page), -1)
	var scripts []string
	for _, m := range named {
		if !strings.HasPrefix(m[1], "/") || strings.HasPrefix(m[1], "//") {
			t.Errorf("the page names %s", m[1])
			continue
		}
		if strings.HasSuffix(m[1], ".js") {
			scripts = append(scripts, filepath.Join(dist, m[1]))
		}
	}
	size := 0
	for _, file := range needed(t, scripts) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		size += compressed(t, text)
		// Words that only the terminal, the graph, the charts, the search, the review and its highlighter have.
		for _, later := range []string{"review-about", "selector-tag", "xterm-screen", "Graph of dependencies", "gantt-row", "budget-line", "big-search"} {
			if bytes.Contains(text, []byte(later)) {
				t.Errorf("the page waits for %s, which has the code of %q", filepath.Base(file), later)
			}
		}
	}
	t.Logf("%d bytes of script, compressed, before the page is drawn", size)
	if size == 0 || size > firstLoad {
		t.Errorf("%d bytes of script before the page is drawn, %d are allowed", size, firstLoad)
	}
	for _, inline := range regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script>|<style|\son\w+=`).FindAllStringSubmatch(string(page), -1) {
		if inline[1] != "" || !strings.HasPrefix(inline[0], "<script") {
			t.Errorf("inline: %s", inline[0])
		}
	}
}

// imported finds what a script imports before it runs.
var imported = regexp.MustCompile(`(?:^|[;}\s])(?:import|export)(?:[^"'()]*?from)?\s*["'](\./[^"']+\.js)["']`)

// needed is the scripts with all that they import, each once.
func needed(t *testing.T, scripts []string) []string {
	t.Helper()
	seen := map[string]bool{}
	var all []string
	for len(scripts) > 0 {
		file := scripts[0]
		scripts = scripts[1:]
		if seen[file] {
			continue
		}
		seen[file] = true
		all = append(all, file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range imported.FindAllSubmatch(text, -1) {
			scripts = append(scripts, filepath.Join(filepath.Dir(file), string(m[1])))
		}
	}
	return all
}

func compressed(t *testing.T, text []byte) int {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
