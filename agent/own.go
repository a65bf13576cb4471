package agent

import (
	"strings"

	"coppice"
)

// OwnTool returns the tool of Coppice that an agent means by a name, and false
// for any other tool. Agents put the name of the tool server before the name of
// the tool, each in its own form: mcp__coppice__x, mcp_coppice_x, coppice__x,
// coppice_x, coppice-x, coppice.x, coppice/x. Some write x (coppice MCP Server).
// No project can name a tool server so that its tools look like these
// (ReservedServer).
func OwnTool(name string) (tool string, ok bool) {
	if before, found := strings.CutSuffix(name, " ("+ToolServer+" MCP Server)"); found {
		return before, isTool(before)
	}
	rest := name
	if after, found := strings.CutPrefix(name, "mcp"); found {
		rest = strings.TrimLeft(after, "_-./:")
		if rest == after {
			return "", false
		}
	}
	rest, found := strings.CutPrefix(rest, ToolServer)
	tool = strings.TrimLeft(rest, "_-./:")
	return tool, found && tool != rest && isTool(tool)
}

// isTool reports whether a text can be the name of a tool of Coppice.
func isTool(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// ReservedServer reports whether a project cannot use a name for its own tool
// server, because agents would name its tools like those of Coppice.
func ReservedServer(name string) bool {
	rest, found := strings.CutPrefix(strings.ToLower(name), ToolServer)
	return found && (rest == "" || strings.ContainsAny(rest[:1], "_-./:"))
}

// allowsOwn reports whether a call is one of Coppice's own tools, which an agent
// can use unless a rule names the tool.
func allowsOwn(c Call, by coppice.Rule) bool {
	_, own := OwnTool(c.Name)
	return own && c.Command == "" && len(c.Paths) == 0 && c.URL == "" && (by.Tool == "" || by.Tool == "*" || by.Tool == string(coppice.ToolOther))
}

// WantsServers reports whether the session has tool servers besides the one of
// Coppice.
func (r Request) WantsServers() bool {
	for name := range r.MCP {
		if name != ToolServer {
			return true
		}
	}
	return false
}

// ToolProgram returns the server with the tools of Coppice as a program, for
// agents that cannot use an address.
func (r Request) ToolProgram() (coppice.MCPServer, bool) {
	s, ok := r.MCP[ToolServer]
	if !ok || r.Program == "" {
		return coppice.MCPServer{}, false
	}
	return coppice.MCPServer{Command: []string{r.Program, "mcp"}, Env: map[string]string{ToolsURLVar: s.URL, TokenVar: "${" + TokenVar + "}"}}, true
}
