package prompt

import (
	"fmt"
	"strings"

	"coppice"
)

// stable writes the part of a first message that is the same for all tasks of a
// project: its context files, and then the tools, which depend on the role. It comes
// first, so that services which cache the beginning of a message can use it again. A
// conversation that is resumed has it already.
func stable(in Input) string {
	if in.Next.Resume != "" {
		return ""
	}
	return contextFiles(in.Policy.Context) + toolLines(in.Tools)
}

// contextFiles writes the context files of a project. They are instructions, not data:
// a person has written or confirmed them.
func contextFiles(files []coppice.ContextFile) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("These files of the repository describe the project and how to work in it. Follow them. Where they contradict the task below, the task applies.\n\n")
	for _, f := range files {
		if f.Text == "" {
			fmt.Fprintf(&b, "(%s has %d bytes and was left out. Read the file if you need it.)\n\n", f.Name, f.Size)
			continue
		}
		fmt.Fprintf(&b, "<file name=%q>\n%s\n</file>\n", f.Name, f.Text)
		if len(f.Text) < f.Size {
			fmt.Fprintf(&b, "(%s was cut after %d of %d bytes. Read the file for the rest.)\n", f.Name, len(f.Text), f.Size)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// toolLines writes the tools that a session has, each on a line.
func toolLines(tools []coppice.ToolLine) string {
	if len(tools) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Tools of Coppice, which runs this session beside others (tool server coppice):\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "- %s: %s\n", t.Name, t.About)
	}
	return b.String() + "\n"
}
