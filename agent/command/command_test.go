package command

import (
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/agenttest"
)

var suite = agenttest.Suite{Protocol: New(), Profile: coppice.Profile{Protocol: Name, Command: []string{"sh"}, Args: []string{"-eu"}}}

func TestProtocol(t *testing.T) { t.Parallel(); agenttest.Run(t, suite) }

func FuzzDriver(f *testing.F) { agenttest.Fuzz(f, suite) }

// A plain program is given no tool servers, which is said.
func TestNoServers(t *testing.T) {
	t.Parallel()
	for _, servers := range []map[string]coppice.MCPServer{nil, {"own": {Command: []string{"tool"}}}, {"orch": {URL: "http://127.0.0.1:1"}}} {
		told := false
		for _, e := range New().Driver(suite.Profile, agent.Request{MCP: servers}).Start().Events {
			told = told || e.Name == "cannot"
		}
		if told != (servers != nil) {
			t.Errorf("%v: told %v", servers, told)
		}
	}
}
