package prompt

import (
	"fmt"
	"strings"

	"coppice"
)

// verify writes the prompt of a verifier: the task, its steps and where the work
// is.
func verify(in Input) string {
	var b strings.Builder
	b.WriteString("Verify work that somebody else did. You judge it; you do not fix it.\n\n" + heading(in))
	steps := in.Task.Steps
	if len(steps) == 0 {
		steps = []string{coppice.WholeStep}
	}
	b.WriteString("\nThe steps to verify, each by itself:\n")
	for i, step := range steps {
		fmt.Fprintf(&b, "%d. %s\n", i+1, step)
	}
	fmt.Fprintf(&b, `
How to work:
- You are in a separate git worktree, at the commit that would land on %s: the work merged with it. Its checks have passed.
- Change nothing: no file, no commit, no branch. A verdict from a worktree with changed files is void.
- See for yourself: run it, use it, read it. What you cannot see to be true has failed.
`, in.Onto)
	b.WriteString(files(in))
	if in.Policy.Workspace.Serve.Set() {
		b.WriteString("- The app runs from this worktree, and ends with you. $COPPICE_URL is its address, $COPPICE_PORT its port on 127.0.0.1.\n")
	}
	b.WriteString(browser(in))
	return b.String()
}

// browser says that a verifier has a browser, and what happens to its pictures.
// Coppice does not see the pictures of a project's own tool server.
func browser(in Input) string {
	if !in.Policy.Verify.Browser {
		return ""
	}
	text := "- You have a browser: the tools of the server named browser. Look with it at what people will see.\n"
	if _, own := in.Policy.MCP["browser"]; !own {
		text += "- Take a screenshot of what proves a step, or disproves it. Each one that you take is kept as evidence and shown to people; save none to a file.\n"
	}
	return text
}

// howToJudge says how to write a verdict so that it can be read.
const howToJudge = `
How to answer: your last message is the verdict. Speak of every step; one that you say nothing of has failed. Write either a JSON object

{"steps":[{"n":1,"pass":true,"evidence":"what you did and saw"}],"summary":"in a sentence or two"}

or a line for each step:

STEP 1: PASS what you did and saw
STEP 2: FAIL what you did, what you expected and what you saw instead
`
