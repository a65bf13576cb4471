package command

import (
	"testing"

	"coppice"
	"coppice/agent/agenttest"
)

var suite = agenttest.Suite{Protocol: New(), Profile: coppice.Profile{Protocol: Name, Command: []string{"sh"}, Args: []string{"-eu"}}}

func TestProtocol(t *testing.T) { t.Parallel(); agenttest.Run(t, suite) }

func FuzzDriver(f *testing.F) { agenttest.Fuzz(f, suite) }
