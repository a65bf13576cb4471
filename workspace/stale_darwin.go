package workspace

// gitRunsIn cannot tell here. What a killed process of ours left running is
// short-lived, and over before the next one is up.
func gitRunsIn(string) bool { return false }

// gitsIn cannot tell here either.
func gitsIn(string) []string { return nil }
