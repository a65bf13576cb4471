package prompt

// browser says that a verifier has a browser, and what happens to its pictures.
// Coppice does not see the pictures of a project's own tool server.
func browser(in Input) string {
	if !in.Policy.Verify.Browser {
		return ""
	}
	name := in.Policy.Verify.BrowserServer.ServerName()
	text := "- You have a browser: the tools of the server named " + name + ". Look with it at what people will see.\n"
	if _, own := in.Policy.MCP[name]; !own {
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
