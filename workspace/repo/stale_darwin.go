package repo

// GitRunsIn cannot find out on this system. A git that a killed process of Coppice
// left ends before the next server has started.
func GitRunsIn(string) bool { return false }

// gitsIn cannot find out on this system.
func GitsIn(string) []string { return nil }
