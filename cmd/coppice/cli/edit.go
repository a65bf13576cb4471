package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"coppice"
)

// editHelp is the end of the text that a person edits. It is removed again.
const editHelp = `
# The first line is the title, the rest is the description. Lines from here to the
# end are ignored. An empty text creates nothing.
`

// editMark is the first line of editHelp.
var editMark, _, _ = strings.Cut(strings.TrimPrefix(editHelp, "\n"), "\n")

// edit lets a person write a title and a description in the editor.
func (e *Env) edit(ctx context.Context, title, body string) (string, string, error) {
	dir, err := os.MkdirTemp("", "coppice-new-")
	if err != nil {
		return "", "", coppice.Errorf(coppice.EUnavailable, "no temporary file can be created: %w", err).WithFix("set TMPDIR to a directory that you can write to")
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "task.md")
	text := title + "\n"
	if body != "" {
		text += "\n" + strings.TrimRight(body, "\n") + "\n"
	}
	if err := os.WriteFile(path, []byte(text+editHelp), 0o600); err != nil {
		return "", "", err
	}
	if err := e.Edit(ctx, path); err != nil {
		return "", "", err
	}
	b, err := e.readFile(path, coppice.MaxBody)
	if err != nil {
		return "", "", err
	}
	written, _, _ := strings.Cut(string(b), editMark)
	if title, body = titleAndBody(written); title+body == "" {
		return "", "", coppice.Errorf(coppice.EConflict, "the text is empty; nothing was created")
	}
	return title, body, nil
}

// titleAndBody splits a text into its first line and the rest. If the first line is
// too long for a title, everything is the description.
func titleAndBody(text string) (title, body string) {
	text = strings.TrimSpace(text)
	title, body, _ = strings.Cut(text, "\n")
	if title = strings.TrimSpace(title); len(title) > coppice.MaxTitle {
		return "", text
	}
	return title, strings.TrimSpace(body)
}
