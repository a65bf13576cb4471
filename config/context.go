package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"coppice"
)

// The files that are part of the first message of each session, in this order: the
// first two, and then the files of the folder whose names end with .md, sorted.
const (
	ProjectFile     = contextRoot + "/PROJECT.md"
	ConventionsFile = contextRoot + "/CONVENTIONS.md"
	ContextDir      = contextRoot + "/context"

	contextRoot = ".coppice"
	mostContext = 100 // files of the folder
)

// contextNames names the context files of a checkout. The first two might not exist.
func contextNames(dir string) ([]string, error) {
	names := []string{ProjectFile, ConventionsFile}
	more, err := markdownIn(dir, ContextDir)
	if err != nil {
		return names, err
	}
	if len(more) > mostContext {
		return names, coppice.Errorf(coppice.EInvalid, "%s has %d files, %d are allowed", ContextDir, len(more), mostContext).WithFix("join some of them")
	}
	for _, name := range more {
		names = append(names, path.Join(ContextDir, name))
	}
	return names, nil
}

// markdownIn returns the names of the files in a folder of a repository that end in .md,
// sorted. The folder might not exist.
func markdownIn(dir, folder string) (names []string, err error) {
	at, rel, err := locate(dir, folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(at) // if the path changes now, reads still stay inside
	if err != nil {
		return nil, unreadable(folder, err)
	}
	defer root.Close() // read only
	entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(rel))
	if err != nil {
		return nil, unreadable(folder, err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".md") && !e.IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

// loadContext reads the context files, up to the limit of the policy. If one cannot
// be used, the policy says why.
func loadContext(dir string, p *coppice.Policy) error {
	names, err := contextNames(dir)
	if err != nil {
		p.Problems = append(p.Problems, coppice.Public(err).Error())
	}
	left := int(p.Prompt.MostContext())
	for _, name := range names {
		b, err := readFile(dir, name, MaxSize)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && len(b) > MaxSize:
			err = coppice.Errorf(coppice.ETooLarge, "it is larger than %d bytes", MaxSize).WithFix("split it")
		case err == nil && !utf8.Valid(b):
			err = coppice.Errorf(coppice.EInvalid, "it is not valid UTF-8").WithFix("write it as UTF-8")
		}
		if err != nil {
			p.Problems = append(p.Problems, fmt.Sprintf("%s: %s", name, strings.TrimPrefix(err.Error(), name+" ")))
			continue
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n"))
		if text == "" {
			continue
		}
		f := coppice.ContextFile{Name: name, Text: cutText(text, left), Size: len(text)}
		left -= len(f.Text)
		p.Context = append(p.Context, f)
	}
	return nil
}

// cutText returns the first lines of a text that have at most this many bytes. A line
// that is longer alone is cut between two characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if end := strings.LastIndexByte(text[:most], '\n'); end > 0 {
		return text[:end]
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
