package engine

import (
	"strings"
	"testing"

	"coppice"
)

// A session's first message has the project's context files, and the tools that its
// agent has in its role.
func TestTheFirstMessageHasContextAndTools(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) {
		c.Tools = func(agent string, own *coppice.Profile, r coppice.Role, _ bool) []coppice.ToolLine {
			if agent == "other" {
				return nil
			}
			return []coppice.ToolLine{{Name: "read_note", About: agent + " as " + string(r)}}
		}
	})
	b.project(func(p *coppice.Project) {
		p.Policy.Context = []coppice.ContextFile{{Name: ".coppice/PROJECT.md", Text: "It greets.", Size: 10}}
	})
	b.create(coppice.NewTask{Title: "one"}, coppice.NewTask{Title: "two", Agent: "other"})
	b.turn()
	agent := b.task("app-1").Agent
	first, second := b.session("app-1.1").Prompt, b.session("app-2.1").Prompt
	if !strings.HasPrefix(first, "These files") || !strings.Contains(first, "\nIt greets.\n") || !strings.Contains(first, "- read_note: "+agent+" as implement\n\nTask app-1: one\n") {
		t.Errorf("the first message:\n%s", first)
	}
	if !strings.Contains(second, "\nIt greets.\n") || strings.Contains(second, "read_note") {
		t.Errorf("the first message of an agent without tools:\n%s", second)
	}
}
