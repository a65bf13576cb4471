package codex

import (
	"path"
	"strings"
)

var shells = map[string]bool{"sh": true, "bash": true, "zsh": true, "dash": true, "ash": true, "ksh": true, "fish": true}

// unwrap returns the script of a command that has a shell run one, as the agent
// writes all of its commands: /bin/bash -lc '…'. Any other is returned as it is.
func unwrap(command string) string {
	w, ok := words(command)
	if !ok || len(w) != 3 || !shells[path.Base(w[0])] || (w[1] != "-c" && w[1] != "-lc") {
		return command
	}
	return w[2]
}

// words splits a command as a shell does, quotes taken off. It gives up on
// quotes that do not end.
func words(s string) ([]string, bool) {
	var out []string
	var b strings.Builder
	open := false // a word has begun
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\n':
			if open {
				out = append(out, b.String())
				b.Reset()
				open = false
			}
		case '\'':
			n := strings.IndexByte(s[i+1:], '\'')
			if n < 0 {
				return nil, false
			}
			b.WriteString(s[i+1 : i+1+n])
			i += n + 1
			open = true
		case '"':
			open = true
			for i++; ; i++ {
				if i >= len(s) {
					return nil, false
				}
				if s[i] == '"' {
					break
				}
				if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
					i++
				}
				b.WriteByte(s[i])
			}
		case '\\':
			if i+1 >= len(s) {
				return nil, false
			}
			i++
			b.WriteByte(s[i])
			open = true
		default:
			b.WriteByte(c)
			open = true
		}
	}
	if open {
		out = append(out, b.String())
	}
	return out, true
}
