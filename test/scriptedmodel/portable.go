package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// exactCall builds the call a "tool" step asks for.
func exactCall(t ToolStep, req *Request, sub func(string) string) Call {
	c := Call{Name: sub(t.Name), Input: subJSON(t.Input, sub)}
	if t.Match != "" {
		pattern := sub(t.Match)
		re, err := regexp.Compile(pattern)
		found, canSearch := false, false
		for _, o := range req.Tools {
			if err == nil && !found && (re.MatchString(o.Name) || (o.Namespace != "" && re.MatchString(o.Namespace+o.Name))) {
				c.Name, found = o.Name, true
			}
			canSearch = canSearch || o.Name == "tool_search"
		}
		// Codex and Qwen Code keep MCP tools out of the list until the model asks for them.
		// The id of this extra call carries no step number, so the same step is played
		// again once the search result is in the conversation.
		if !found && canSearch && !req.Searched {
			words := strings.Join(regexp.MustCompile(`[A-Za-z0-9]+`).FindAllString(pattern, -1), " ")
			return Call{Name: "tool_search", ID: searchPrefix + newID(""), Input: mustJSON(obj{"query": words})}
		}
	}
	for _, o := range req.Tools {
		if o.Name == c.Name {
			c.Custom, c.Namespace = o.Custom, o.Namespace
		}
	}
	if c.Custom && len(c.Input) > 0 && c.Input[0] != '"' {
		c.Custom = false // an object was given: send it as an ordinary function call
	}
	return c
}

// portableShell maps "run this command line" to the shell tool the CLI offers.
func portableShell(req *Request, cmd string) Call {
	for _, t := range req.Tools {
		switch t.Name {
		case "Bash": // Claude Code
			return Call{Name: t.Name, Input: mustJSON(obj{"command": cmd, "description": "scripted command"})}
		case "bash": // opencode, Kilo, Pi; Copilot
			return Call{Name: t.Name, Input: mustJSON(obj{"command": cmd, "description": "scripted command"})}
		case "Execute": // Droid
			return Call{Name: t.Name, Input: mustJSON(obj{"command": cmd, "summary": "scripted command", "riskLevel": "low", "riskLevelReason": "scripted"})}
		case "run_commands": // Cline
			return Call{Name: t.Name, Input: mustJSON(obj{"commands": arr{cmd}})}
		case "run_shell_command": // Gemini CLI, Qwen Code
			return Call{Name: t.Name, Input: mustJSON(obj{"command": cmd, "description": "scripted command", "is_background": false})}
		case "exec_command": // Codex, unified exec
			return Call{Name: t.Name, Input: mustJSON(obj{"cmd": cmd})}
		case "shell_command": // Codex, string form
			return Call{Name: t.Name, Input: mustJSON(obj{"command": cmd})}
		case "shell", "local_shell", "container.exec": // Codex, argv form
			return Call{Name: t.Name, Input: mustJSON(obj{"command": arr{"bash", "-lc", cmd}})}
		}
	}
	for _, t := range req.Tools {
		if t.Name == "exec" && t.Custom { // Codex code mode: the tool takes JavaScript
			js := fmt.Sprintf("const r = await tools.exec_command(%s); text(JSON.stringify(r));", mustJSON(obj{"cmd": cmd}))
			return Call{Name: t.Name, Custom: true, Input: mustJSON(js)}
		}
	}
	return Call{Name: "no_shell_tool_offered", Input: mustJSON(obj{"command": cmd})}
}

// portableWrite maps "make this file have this content" to a write tool, or to the shell.
func portableWrite(req *Request, file, content string) Call {
	for _, t := range req.Tools {
		switch t.Name {
		case "Write", "write_file": // Claude Code; Gemini CLI, Qwen Code
			return Call{Name: t.Name, Input: mustJSON(obj{"file_path": file, "content": content})}
		case "write": // opencode, Kilo; Pi, which has another name for the path
			return Call{Name: t.Name, Input: mustJSON(obj{"filePath": file, "path": file, "content": content})}
		case "Create": // Droid
			return Call{Name: t.Name, Input: mustJSON(obj{"file_path": file, "content": content})}
		case "create": // Copilot
			return Call{Name: t.Name, Input: mustJSON(obj{"path": file, "file_text": content})}
		case "apply_patch": // Codex (freeform, or JSON with one "input" string); opencode with GPT models
			var b strings.Builder
			fmt.Fprintf(&b, "*** Begin Patch\n*** Add File: %s\n", file)
			for _, line := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
				fmt.Fprintf(&b, "+%s\n", line)
			}
			b.WriteString("*** End Patch\n")
			if t.Custom {
				return Call{Name: t.Name, Custom: true, Input: mustJSON(b.String())}
			}
			return Call{Name: t.Name, Input: mustJSON(obj{"input": b.String(), "patchText": b.String()})}
		}
	}
	q := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	return portableShell(req, fmt.Sprintf("printf %%s %s > %s", q(content), q(file)))
}

type (
	obj = map[string]any
	arr = []any
)

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
