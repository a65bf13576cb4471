package cli

// Paste reads a text from the terminal.
func Paste(e *Env) (string, error) { return e.paste("Paste.") }
