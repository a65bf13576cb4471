package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

var manDir = flag.String("man", "", "write the manual pages to this directory; see make man")

// TestMan writes a manual page for every command. The library that formats them is
// not part of the program.
func TestMan(t *testing.T) {
	t.Parallel()
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root := (&program{}).root()
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Title: "COPPICE", Section: "1", Source: "coppice " + version, Manual: "Coppice"}, dir); err != nil {
		t.Fatal(err)
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.IsAvailableCommand() {
			path := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
			page, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(page), ".TH") {
				t.Errorf("%s: %v", path, err)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}
