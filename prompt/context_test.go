package prompt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

func withContext(in *Input) {
	in.Policy.Context = []coppice.ContextFile{
		{Name: ".coppice/PROJECT.md", Text: "# App\nIt greets.", Size: 16},
		{Name: ".coppice/context/a.md", Text: "one\ntwo", Size: 20},
		{Name: ".coppice/context/b.md", Size: 7},
	}
	in.Tools = []coppice.ToolLine{{Name: "read_note", About: "Read the note of a key"}, {Name: "report_status", About: "Say what you do"}}
}

const stablePart = `These files of the repository describe the project and how to work in it. Follow them. Where they contradict the task below, the task applies.

<file name=".coppice/PROJECT.md">
# App
It greets.
</file>

<file name=".coppice/context/a.md">
one
two
</file>
(.coppice/context/a.md was cut after 7 of 20 bytes. Read the file for the rest.)

(.coppice/context/b.md has 7 bytes and was left out. Read the file if you need it.)

Tools of Coppice, which runs this session beside others (tool server coppice):
- read_note: Read the note of a key
- report_status: Say what you do

`

// The prompts of two tasks of a project have the same beginning. What depends on the
// task follows it, unchanged.
func TestPromptsShareTheirBeginning(t *testing.T) {
	t.Parallel()
	other := func(in *Input) {
		in.Task = coppice.Task{Key: "app-8", Title: "Count", TaskDetails: coppice.TaskDetails{Context: map[string]string{"lang": "fr"}}}
	}
	for _, role := range coppice.Roles {
		for _, task := range []func(*Input){func(*Input) {}, other} {
			plain := Write(input(role.Role, task))
			if d := cmp.Diff(stablePart+plain, Write(input(role.Role, task, withContext))); d != "" {
				t.Errorf("%s (-want +got):\n%s", role.Role, d)
			}
		}
	}
	if got := Write(input(coppice.RoleImplement, other, withContext)); !strings.Contains(got, "lang = fr") || strings.Index(got, "lang = fr") < len(stablePart) {
		t.Errorf("the task's values are not after the common part:\n%s", got)
	}
}

// A conversation that continues has the files and the tools already.
func TestAResumedConversationHasItsContext(t *testing.T) {
	t.Parallel()
	resumed := func(in *Input) { in.Next.Resume = "c-1" }
	if d := cmp.Diff(Write(input(coppice.RoleFix, resumed)), Write(input(coppice.RoleFix, resumed, withContext))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A project's own text of a role follows the common part, too.
func TestContextBeforeTheProjectsOwnText(t *testing.T) {
	t.Parallel()
	own := func(in *Input) { in.Policy.Prompts = map[string]string{"implement": "Build {{.Title}}."} }
	if got := Write(input(coppice.RoleImplement, own, withContext)); got != stablePart+"Build Greet.\n" {
		t.Errorf("%q", got)
	}
}
