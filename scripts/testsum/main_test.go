package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	pass := `{"Action":"run","Package":"a","Test":"T"}
{"Action":"output","Package":"a","Test":"T","Output":"noise\n"}
{"Action":"pass","Package":"a","Test":"T"}
{"Action":"pass","Package":"a","Elapsed":0.25}
`
	skip := `{"Action":"output","Package":"b","Test":"S","Output":"    x.go:1: not here\n"}
{"Action":"output","Package":"b","Test":"S","Output":"--- SKIP: S\n"}
{"Action":"skip","Package":"b","Test":"S"}
{"Action":"pass","Package":"b","Elapsed":1}
`
	fail := `{"Action":"output","Package":"c","Test":"F","Output":"    it broke\n"}
{"Action":"fail","Package":"c","Test":"F"}
{"Action":"fail","Package":"c","Elapsed":1}
`
	build := `{"ImportPath":"d","Action":"build-output","Output":"d.go:1: syntax error\n"}
{"ImportPath":"d","Action":"build-fail"}
{"Action":"fail","Package":"d","Elapsed":0,"FailedBuild":"d"}
`
	crash := `{"Action":"output","Package":"e","Test":"P","Output":"panic: boom\n"}
{"Action":"fail","Package":"e","Elapsed":0}
`
	for _, c := range []struct {
		name, in   string
		strict, ok bool
		says       []string
	}{
		{"pass", pass, true, true, []string{"ok    a 0.2s\n", "1 passed, 0 failed, 0 skipped\n"}},
		{"skip", pass + skip, false, true, []string{"skip  b S: x.go:1: not here\n", "1 passed, 0 failed, 1 skipped\n"}},
		{"skip, strictly", pass + skip, true, false, []string{"1 passed, 0 failed, 1 skipped\n"}},
		{"fail", pass + fail, false, false, []string{"it broke", "FAIL  c 1.0s\n", "1 passed, 1 failed, 0 skipped\n"}},
		{"build", build, false, false, []string{"syntax error", "0 passed, 1 failed, 0 skipped\n"}},
		{"crash", crash, false, false, []string{"panic: boom", "0 passed, 1 failed, 0 skipped\n"}},
		{"nothing", "go: no such module\n", false, false, []string{"no such module", "0 passed, 0 failed, 0 skipped\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			s := newSummary(&out)
			if err := s.read(strings.NewReader(c.in)); err != nil {
				t.Fatal(err)
			}
			if ok := s.close(c.strict); ok != c.ok {
				t.Errorf("all well: %v", ok)
			}
			for _, part := range c.says {
				if !strings.Contains(out.String(), part) {
					t.Errorf("does not say %q:\n%s", part, out.String())
				}
			}
			if strings.Contains(out.String(), "noise") {
				t.Error("the output of a passing test is printed")
			}
		})
	}
}
