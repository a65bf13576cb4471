package prompt

// analyze writes the prompt of a session that finds out why another one failed.
func analyze(in Input) string {
	return "An agent's session on the task below failed. Find out why, so that the next session does not fail for the same reason. You change nothing.\n\n" + heading(in) + `
How to work:
- You are in a separate git worktree, at the commit that the failed session left. It is removed when you end.
- Change nothing: no file, no commit, no branch. Do not do the task itself.
- Read what happened before, and as much of the code as you need. Stop as soon as you know the cause.
` + files(in)
}

// howToDiagnose says how to write a diagnosis.
const howToDiagnose = `
How to answer: your last message is the diagnosis, whole and by itself, in at most 30 lines. The next session reads nothing else of what you write. Say:
1. why the session failed, and how sure you are;
2. what of its work is usable, and what is not;
3. what the next session should do differently, step by step.
`
