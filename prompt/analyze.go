package prompt

// howToDiagnose says how to write a diagnosis.
const howToDiagnose = `
How to answer: your last message is the diagnosis, whole and by itself, in at most 30 lines. The next session reads nothing else of what you write. Say:
1. why the session failed, and how sure you are;
2. what of its work is usable, and what is not;
3. what the next session should do differently, step by step.
`
