package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelp compares the help of all commands, in the order of the command tree,
// with testdata/help.txt. A change of a help text shows in that file's diff.
func TestHelp(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	root := (&program{}).root()
	root.SetOut(&b)
	var help func(c *cobra.Command)
	help = func(c *cobra.Command) {
		fmt.Fprintf(&b, "=== %s\n", c.CommandPath())
		c.InitDefaultHelpFlag()
		if err := c.Help(); err != nil {
			t.Error(err)
		}
		fmt.Fprintln(&b)
		for _, sub := range c.Commands() {
			help(sub)
		}
	}
	help(root)
	golden(t, "help.txt", b.String())
}
