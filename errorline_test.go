package coppice_test

import (
	"testing"

	"coppice"
)

func TestFirstError(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]int{
		"": 0,
		"ok  \tapp\t0.1s\nall errors are handled\n":                             0,
		"=== RUN   TestA\n    a_test.go:3: no\n--- FAIL: TestA (0.00s)\nFAIL\n": 3,
		"=== RUN   TestA/b\n    --- FAIL: TestA/b\n":                            2,
		"one\ntwo\npanic: runtime error\n":                                      3,
		"collected\n\n=========== FAILURES ===========\n":                       3,
		"x\nTraceback (most recent call last):\n":                               2,
		"npm notice\nnpm ERR! code ELIFECYCLE\n":                                2,
		"npm error code 1\n":                                                    1,
		"src/a.ts(3,5): error TS2322: Type\n":                                   1,
		"   Compiling app\nerror[E0308]: mismatched types\n":                    2,
		"a.c:3:5: error: expected\n":                                            1,
		"thread 'main' panicked at src/main.rs:2\n":                             1,
		"make: *** [Makefile:3: test] Error 1\n":                                1,
		"TAP version 13\nok 1\nnot ok 2 - adds\n":                               3,
		"sh: 1: foo: not found\n":                                               1,
		"  ✓ adds\n  ✕ subtracts (2 ms)\n":                                      2,
		"FAIL src/app.test.js\n":                                                1,
	} {
		if got := coppice.FirstError(log); got != want {
			t.Errorf("%q: line %d, want %d", log, got, want)
		}
	}
}
