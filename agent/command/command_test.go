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

// A plain program gets no tool servers, which is reported.
func TestNoServers(t *testing.T) {
	t.Parallel()
	for _, servers := range []map[string]coppice.MCPServer{nil, {"own": {Command: []string{"tool"}}}, {"orch": {URL: "http://127.0.0.1:1"}}} {
		reported := false
		for _, e := range New().Driver(suite.Profile, agent.Request{MCP: servers}).Start().Events {
			reported = reported || e.Name == "cannot"
		}
		if reported != (servers != nil) {
			t.Errorf("%v: reported %v", servers, reported)
		}
	}
}
