package codex

import (
	"path/filepath"
	"testing"

	"coppice"
	"coppice/agent/agenttest"
)

// The suite's profile claims to pass the prompt in a file, so that the suite
// does not search for it in the first write: here it follows the opening of the
// thread. TestLargePrompt searches for it there.
var suite = agenttest.Suite{Protocol: New(), Profile: coppice.Profile{
	Protocol: Name, Command: []string{"codex", "app-server"}, Prompt: "file",
}}

var execSuite = agenttest.Suite{Protocol: NewExec(), Dir: filepath.Join("testdata", "exec"), Profile: coppice.Profile{
	Protocol: NameExec, Command: []string{"codex", "exec"}, Args: []string{"--json"},
	Model: []string{"--model", "{model}"}, Resume: []string{"resume", "{conversation}"},
}}

func TestProtocol(t *testing.T) { t.Parallel(); agenttest.Run(t, suite) }

func TestExec(t *testing.T) { t.Parallel(); agenttest.Run(t, execSuite) }

func FuzzDriver(f *testing.F) { agenttest.FuzzRecordings(f, suite, "testdata/*/transcript.txt") }

func FuzzExec(f *testing.F) { agenttest.Fuzz(f, execSuite) }
