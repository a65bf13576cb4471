package workspace

// gitRunsIn cannot find out on this system. A git that a killed process of Coppice
// left ends before the next server has started.
func gitRunsIn(string) bool { return false }

// gitsIn cannot find out on this system.
func gitsIn(string) []string { return nil }
