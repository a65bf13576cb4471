package coppice

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// firstErrors are the patterns of a line at which an error starts, in logs of
// common tools.
var firstErrors = []string{
	`^[ \t]*--- FAIL`,                  // go test
	`^panic: `,                         // Go
	`^FAIL\b`,                          // go test, jest
	`^=+ (FAILURES|ERRORS) =+`,         // pytest
	`^Traceback \(most recent call`,    // Python
	`^npm (ERR!|error) `,               // npm
	`\berror(\[\w+\]| TS\d+)?:`,        // compilers, cargo, tsc
	`^Error: `,                         // Node, many tools
	`^thread '.*' panicked at`,         // Rust
	`^[ \t]*(✕|✗|✖|×) `,                // JavaScript test runners
	`^Exception in thread `,            // Java
	`^\[ERROR\] `,                      // Maven
	`^make(\[\d+\])?: \*\*\* `,         // make
	`^(not ok|FAILED|FAILURE)\b`,       // TAP, pytest, Gradle
	`^fatal(:| error:) `,               // git, compilers
	`: (command not found|not found)$`, // shells
}

var firstError = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?m)" + strings.Join(firstErrors, "|"))
})

// ErrorPatterns returns the patterns of a line at which an error starts. They are
// valid in Go and in JavaScript.
func ErrorPatterns() []string { return slices.Clone(firstErrors) }

// StartsWithError reports whether a text starts with an error.
func StartsWithError(text string) bool {
	at := firstError().FindStringIndex(strings.TrimSpace(text))
	return at != nil && at[0] == 0
}

// FirstError returns the number of the line at which the first error of a log
// starts, from 1. It returns 0 if no line looks like one.
func FirstError(log string) int {
	at := firstError().FindStringIndex(log)
	if at == nil {
		return 0
	}
	return 1 + strings.Count(log[:at[0]], "\n")
}
