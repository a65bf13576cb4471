package mcpserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Stdio serves the same tool over a program's stdin and stdout, one message per
// line, until there is no more to read. Each call is written to notes, as a
// line of JSON, before it is answered.
func Stdio(in io.Reader, out, notes io.Writer) error {
	s := New("")
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var m request
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("mcpserver: %s: %w", line, err)
		}
		if len(m.ID) == 0 { // a notification
			continue
		}
		before := len(s.Calls())
		answer := s.reply(m, nil)
		for _, c := range s.Calls()[before:] {
			if err := json.NewEncoder(notes).Encode(c); err != nil {
				return err
			}
		}
		if err := json.NewEncoder(out).Encode(answer); err != nil {
			return err
		}
	}
}
