package codex

import (
	"path"
	"slices"

	"coppice/agent"
)

var shells = []string{"sh", "bash", "zsh", "dash", "ash", "ksh", "fish"}

// unwrap returns the script of a command that runs a shell, as the agent writes
// all of its commands: /bin/bash -lc '…'. Any other command is returned
// unchanged.
func unwrap(command string) string {
	w, ok := agent.Words(command)
	if !ok || len(w) != 3 || !slices.Contains(shells, path.Base(w[0])) || (w[1] != "-c" && w[1] != "-lc") {
		return command
	}
	return w[2]
}
