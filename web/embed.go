// Package web contains the dashboard: its sources in src, and in dist what
// `make web` builds from them, which becomes part of the binary. A binary without
// it also works: its server shows a page that says so.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files returns the built dashboard, or nil if the binary was built without it.
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
