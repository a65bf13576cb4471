// Package web holds the dashboard: its sources in src, and what `make web`
// builds of them in dist, which becomes part of the binary. A binary that was
// built without it works as well; its server shows a page that says so.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files returns what was built, or nil when the dashboard was not built before
// the binary was.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil
	}
	return files
}
