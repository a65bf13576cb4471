// Command testsum reads the output of `go test -json` and writes what a person
// wants to see: a line per package, everything a failed test said, every skip
// with its reason, and a closing line that counts. It exits with 1 when
// anything failed, and with -strict also when anything was skipped.
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

// summary collects what the tests said until it is known whether it matters.
type summary struct {
	out                     io.Writer
	said                    map[string][]string // by package and test
	failedIn                map[string]int      // failed tests by package
	passed, failed, skipped int
	skips                   []string
	started                 bool
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, said: map[string][]string{}, failedIn: map[string]int{}}
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
		fmt.Fprint(s.out, line) // go itself has something to say
		return
	}
	s.started = true
	id := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "output":
		s.said[id] = append(s.said[id], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(e, id)
		}
		delete(s.said, id)
	}
}

func (s *summary) endTest(e event, id string) {
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		s.failedIn[e.Package]++
		fmt.Fprintf(s.out, "--- %s %s\n%s", e.Package, e.Test, strings.Join(s.said[id], ""))
	case "skip":
		s.skipped++
		s.skips = append(s.skips, e.Package+" "+e.Test+": "+reason(s.said[id]))
	}
}

// reason is the last thing a skipped test said before go's own lines.
func reason(said []string) string {
	for i := len(said) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(said[i]); text != "" && !strings.HasPrefix(text, "---") && !strings.HasPrefix(text, "===") {
			return text
		}
	}
	return "no reason given"
}

// endPackage counts a package that failed by itself, by not building, in its
// TestMain or by a panic, as one failure.
func (s *summary) endPackage(e event) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(s.out, "ok    %s %.1fs\n", e.Package, e.Elapsed)
	case "fail":
		if s.failedIn[e.Package] == 0 {
			s.failed++
			fmt.Fprint(s.out, strings.Join(s.said[e.Package+" "], ""))
			for id, said := range s.said {
				if strings.HasPrefix(id, e.Package+" ") && id != e.Package+" " {
					fmt.Fprint(s.out, strings.Join(said, ""))
				}
			}
		}
		fmt.Fprintf(s.out, "FAIL  %s %.1fs\n", e.Package, e.Elapsed)
	}
}

// close writes the end and tells whether all is well.
func (s *summary) close(strict bool) bool {
	for _, skip := range s.skips {
		fmt.Fprintln(s.out, "skip  "+skip)
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
	return s.started && s.failed == 0 && (!strict || s.skipped == 0)
}
