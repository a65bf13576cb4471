package config

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"

	"coppice"
)

// TemplateChange writes or removes a template.
type TemplateChange struct {
	Name  string
	Text  string
	Unset bool // remove the file; Text is ignored
}

// ApplyTemplate makes a change of a template in a repository. A revision other than ""
// must be that of the current file. The file is replaced or removed atomically. On any
// error it keeps its content.
func ApplyTemplate(dir string, c TemplateChange, rev string) error {
	before, after, err := prepareTemplate(dir, c, rev)
	if err != nil || bytes.Equal(before, after) && (before == nil) == (after == nil) {
		return err
	}
	return swap(dir, TemplateFile(c.Name), before, after, func() error { return nil })
}

// PreviewTemplate returns what ApplyTemplate would change, as a unified diff, "" for
// nothing. It fails where ApplyTemplate would, and writes nothing.
func PreviewTemplate(dir string, c TemplateChange, rev string) (string, error) {
	before, after, err := prepareTemplate(dir, c, rev)
	if err != nil || bytes.Equal(before, after) {
		return "", err
	}
	return diffOf(TemplateFile(c.Name), before, after), nil
}

// prepareTemplate returns a file before and after a change; nil stands for a missing
// file.
func prepareTemplate(dir string, c TemplateChange, rev string) (before, after []byte, err error) {
	if err := coppice.ValidName("template", c.Name); err != nil {
		return nil, nil, coppice.Public(err).WithField("name")
	}
	name := TemplateFile(c.Name)
	before, err = readFile(dir, name, MaxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if err := sameRevision(name, rev, before); err != nil {
		return nil, nil, err
	}
	if c.Unset {
		if before == nil {
			return nil, nil, coppice.Errorf(coppice.ENotFound, "there is no template %s", coppice.Quote(c.Name)).WithFix("see `coppice template list`")
		}
		return before, nil, nil
	}
	text := strings.TrimRight(c.Text, "\r\n") + "\n"
	if bytes.Contains(before, []byte("\r\n")) { // a browser sends only newlines
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	after = []byte(text)
	_, err = ParseTemplate(c.Name, after)
	return before, after, err
}
