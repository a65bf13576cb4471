//go:build linux

package cut

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// call is one line of strace: a system call that succeeded.
type call struct {
	pid    int
	name   string
	args   []string // as strace writes them
	result string
}

// parseLine reads one line. It returns false for lines that are about a signal
// or the end of a process. Strace names a call "???" if the thread was killed
// before strace could read which call it was: that call never began.
func parseLine(line string) (call, bool, error) {
	num, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimLeft(rest, " ")
	pid, err := strconv.Atoi(num)
	if err != nil {
		return call{}, false, fmt.Errorf("the line has no process number: %.200s", line)
	}
	if strings.HasPrefix(rest, "+++") || strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "???(") {
		return call{}, false, nil
	}
	open := strings.IndexByte(rest, '(')
	end := strings.LastIndex(rest, " = ")
	if open <= 0 || end < open || strings.Contains(rest, "<unfinished ...>") || strings.Contains(rest, " resumed>") {
		return call{}, false, fmt.Errorf("the line is not a whole call: %.200s", line)
	}
	inner := strings.TrimRight(rest[open+1:end], " ")
	inner, ok := strings.CutSuffix(inner, ")")
	if !ok {
		return call{}, false, fmt.Errorf("the arguments have no end: %.200s", line)
	}
	return call{pid: pid, name: rest[:open], args: splitArgs(inner), result: strings.TrimSpace(rest[end+3:])}, true, nil
}

// splitArgs splits at the commas that stand outside of brackets. Texts and paths
// are hexadecimal, so they hold neither brackets nor commas.
func splitArgs(s string) []string {
	var args []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case ',':
			if depth == 0 {
				args = append(args, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	if last := strings.TrimSpace(s[from:]); last != "" || len(args) > 0 {
		args = append(args, last)
	}
	return args
}

// unhex decodes \x2f\x74 and the like. Strace leaves no other form with -xx.
func unhex(s string) ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
}

// text decodes a quoted argument. A shortened one is an error: its rest is lost.
func text(arg string) ([]byte, error) {
	inner, ok := strings.CutPrefix(arg, `"`)
	if !ok {
		return nil, fmt.Errorf("%.60s is not a text", arg)
	}
	inner, ok = strings.CutSuffix(inner, `"`)
	if !ok {
		return nil, fmt.Errorf("the text %.60s was shortened", arg)
	}
	return unhex(inner)
}

// descriptor decodes 3</path>. The path is empty when strace shows none.
func descriptor(arg string) (fd int, path string, err error) {
	num, rest, shown := strings.Cut(arg, "<")
	if num == "AT_FDCWD" {
		fd = -100
	} else if fd, err = strconv.Atoi(num); err != nil {
		return 0, "", fmt.Errorf("%.60s is not a descriptor", arg)
	}
	if !shown {
		return fd, "", nil
	}
	name, after, ok := strings.Cut(rest, ">")
	b, err := unhex(name)
	if !ok || err != nil {
		return 0, "", fmt.Errorf("%.60s is not a descriptor", arg)
	}
	return fd, string(b) + after, nil // (deleted) follows the bracket
}

// number decodes a number in any of strace's forms.
func number(arg string) (int64, error) {
	return strconv.ParseInt(strings.Fields(arg + " ")[0], 0, 64)
}
