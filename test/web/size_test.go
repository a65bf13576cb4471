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
	size := 0
	for _, m := range named {
		if !strings.HasPrefix(m[1], "/") || strings.HasPrefix(m[1], "//") {
			t.Errorf("the page names %s", m[1])
			continue
		}
		if strings.Contains(m[1], "terminal") || strings.Contains(m[1], "graph") || strings.Contains(m[1], "usage") {
			t.Errorf("the page waits for %s", m[1])
		}
		if strings.HasSuffix(m[1], ".js") {
			size += compressed(t, filepath.Join(dist, m[1]))
		}
	}
	if size == 0 || size > firstLoad {
		t.Errorf("%d bytes of script before the page is drawn, %d are allowed", size, firstLoad)
	}
	for _, inline := range regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script>|<style|\son\w+=`).FindAllStringSubmatch(string(page), -1) {
		if inline[1] != "" || !strings.HasPrefix(inline[0], "<script") {
			t.Errorf("inline: %s", inline[0])
		}
	}
}

func compressed(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
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
