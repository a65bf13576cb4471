package prompt

import (
	"fmt"
)

// answer writes the prompt of a session that answers.
func answer(in Input) string {
	return "Answer a question about this repository. You change nothing.\n\n" + heading(in) + fmt.Sprintf(`
How to work:
- You are in a separate git worktree, at the newest commit of %s. It is removed when you end.
- Change nothing: no file, no commit, no branch. Read the code, run it, and look at its history to be sure of what you say.
`, in.Onto) + files(in)
}

// howToAnswer says how to write an answer so that it can be read.
func howToAnswer(in Input) string {
	if len(in.Task.Schema) == 0 {
		return "\nHow to answer: your last message is the answer, whole and by itself. People read nothing else of what you write.\n"
	}
	return fmt.Sprintf("\nHow to answer: your last message is one JSON value that matches this JSON schema, and nothing else:\n\n%s\n", in.Task.Schema)
}
