// Command testsum reads the output of `go test -json` and prints a line per
// package, the output of failed tests, every skip with its reason, and the
// counts. It exits with 1 if anything failed, and with -strict also if anything
// was skipped.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	strict := flag.Bool("strict", false, "a skipped test is a failure")
	flag.Parse()
	s := newSummary(os.Stdout)
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	if !s.close(*strict) {
		os.Exit(1)
	}
}

// event is one line of `go test -json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// summary collects the output of tests until it is known whether it is needed.
type summary struct {
	out                     io.Writer
	output                  map[string][]string // by package and test
	failedIn                map[string]int      // failed tests by package
	passed, failed, skipped int
	skips                   []string
	started                 bool
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[string][]string{}, failedIn: map[string]int{}}
}

func (s *summary) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			s.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) line(line string) {
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
		fmt.Fprint(s.out, line) // not an event, but a message of go itself
		return
	}
	s.started = true
	id := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "output":
		s.output[id] = append(s.output[id], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(e, id)
		}
		delete(s.output, id)
	}
}

func (s *summary) endTest(e event, id string) {
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		s.failedIn[e.Package]++
		fmt.Fprintf(s.out, "--- %s %s\n%s", e.Package, e.Test, strings.Join(s.output[id], ""))
	case "skip":
		s.skipped++
		s.skips = append(s.skips, e.Package+" "+e.Test+": "+reason(s.output[id]))
	}
}

// reason returns the last output of a skipped test before go's own lines.
func reason(output []string) string {
	for i := len(output) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(output[i]); text != "" && !strings.HasPrefix(text, "---") && !strings.HasPrefix(text, "===") {
			return text
		}
	}
	return "no reason given"
}

// endPackage counts a package that failed without a failed test as one failure:
// it did not build, or its TestMain or a panic failed.
func (s *summary) endPackage(e event) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(s.out, "ok    %s %.1fs\n", e.Package, e.Elapsed)
	case "fail":
		if s.failedIn[e.Package] == 0 {
			s.failed++
			fmt.Fprint(s.out, strings.Join(s.output[e.Package+" "], ""))
			for id, output := range s.output {
				if strings.HasPrefix(id, e.Package+" ") && id != e.Package+" " {
					fmt.Fprint(s.out, strings.Join(output, ""))
				}
			}
		}
		fmt.Fprintf(s.out, "FAIL  %s %.1fs\n", e.Package, e.Elapsed)
	}
}

// close prints the counts and reports whether all is well.
func (s *summary) close(strict bool) bool {
	for _, skip := range s.skips {
		fmt.Fprintln(s.out, "skip  "+skip)
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
	return s.started && s.failed == 0 && (!strict || s.skipped == 0)
}
