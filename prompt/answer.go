package prompt

import "fmt"

// howToAnswer says how to write an answer so that it can be read.
func howToAnswer(in Input) string {
	if len(in.Task.Schema) == 0 {
		return "\nHow to answer: your last message is the answer, whole and by itself. People read nothing else of what you write.\n"
	}
	return fmt.Sprintf("\nHow to answer: your last message is one JSON value that matches this JSON schema, and nothing else:\n\n%s\n", in.Task.Schema)
}
