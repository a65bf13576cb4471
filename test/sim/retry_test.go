package sim

import "testing"

// TestRetries plays histories in which projects and tasks have all policies for
// failed sessions and all completion checks. retriesHold compares what follows each
// session with them. Everything that they can lead to has happened.
func TestRetries(t *testing.T) {
	t.Parallel()
	var all retries
	for n := range uint64(24) {
		opt := options(n + 15000)
		if *seed != 0 {
			opt = options(*seed)
		}
		opt.Retries, opt.Tasks, opt.Steps = true, 14, 800
		r, err := Run(t.Context(), opt)
		if err != nil {
			t.Fatalf("%v\nplay it again: go test ./test/sim -run TestRetries -seed %d", err, opt.Seed)
		}
		if *seed != 0 {
			return
		}
		all.add(r.retries)
	}
	if t.Logf("%+v", all); min(all.Diagnosed, all.Denied, all.TakenOver, all.TooMany, all.Errors, all.Unchanged) < 2 {
		t.Error("that shows little")
	}
}
