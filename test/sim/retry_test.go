package sim

import "testing"

// TestRetries plays histories in which projects and tasks have all policies for
// failed sessions: some of them get a diagnosis.
func TestRetries(t *testing.T) {
	t.Parallel()
	diagnosed := 0
	for n := range uint64(40) {
		opt := options(n + 13000)
		if *seed != 0 {
			opt = options(*seed)
		}
		r, err := Run(t.Context(), opt)
		if err != nil {
			t.Fatalf("%v\nplay it again: go test ./test/sim -run TestRetries -seed %d", err, opt.Seed)
		}
		if *seed != 0 {
			return
		}
		diagnosed += r.Diagnosed
	}
	if t.Logf("%d sessions got a diagnosis", diagnosed); diagnosed == 0 {
		t.Error("no analysis was of use")
	}
}
