package cli

import (
	"github.com/spf13/cobra"

	"coppice"
	"coppice/agent"
	"coppice/internal/mcpbridge"
)

func (e *Env) mcpCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "mcp", Short: "Serve the tools of Coppice over stdin and stdout",
		Long: `Serve the tools of Coppice to an MCP client that starts programs, as lines of JSON on
stdin and stdout. In the session of an agent these are the agent's tools. Otherwise
they are yours: status, list_tasks, read_task, create_task, answer_question,
land_task, send_message and search, on the running server. It starts no server.

A client that uses addresses needs no program: see docs/mcp.md.`,
		Example: "  coppice mcp   # as the command of a tool server, in the configuration of an MCP client",
		Args:    args(0, 0, ""),
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		find, err := e.toolsAddress()
		if err != nil {
			return err
		}
		return (&mcpbridge.Bridge{In: e.Stdin, Out: e.Stdout, Find: find}).Run(c.Context())
	}
	return c
}

// toolsAddress returns how to find the tools: those of the session in which the
// command runs, or those of the server.
func (e *Env) toolsAddress() (func() (address, token string, err error), error) {
	address, token := e.Getenv(agent.ToolsURLVar), e.Getenv(agent.TokenVar)
	if address != "" {
		if token == "" {
			return nil, coppice.Errorf(coppice.EInvalid, "%s is set, but %s is not", agent.ToolsURLVar, agent.TokenVar).
				WithFix("unset %s to use your own tools", agent.ToolsURLVar)
		}
		return func() (string, string, error) { return address, token, nil }, nil
	}
	cl, err := e.Client()
	if err != nil {
		return nil, err
	}
	return func() (string, string, error) {
		base, token, err := cl.Server()
		return base + "/mcp", token, err
	}, nil
}
