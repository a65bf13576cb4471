package main

import (
	"cmp"
	"context"
	"os"
	"os/exec"

	"coppice"
)

// editFile opens a file in the person's editor and waits until it is closed. The
// editor is in the process group of this command, so that it has the terminal.
func (p *program) editFile(ctx context.Context, path string) error {
	if !p.tty {
		return coppice.Errorf(coppice.EInvalid, "an editor needs a terminal").WithFix("use --body-file, or write the text to stdin: coppice new -")
	}
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	// As git does, the shell splits a command with arguments.
	c := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, "coppice", path)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return coppice.Errorf(coppice.EUnavailable, "the editor %s failed: %w", coppice.Quote(editor), err).
			WithFix("set VISUAL or EDITOR to your editor, or use --body-file")
	}
	return nil
}
