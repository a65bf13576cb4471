package sim

import "testing"

// TestLocks plays histories in which agents lock files, wait, release and crash: no
// lock outlives its session, and no waiting call is lost.
func TestLocks(t *testing.T) {
	t.Parallel()
	var all locked
	for n := range uint64(12) {
		opt := options(n + 16000)
		if *seed != 0 {
			opt = options(*seed)
		}
		opt.Locks, opt.Steps = true, 600
		r, err := Run(t.Context(), opt)
		if err != nil {
			t.Fatalf("%v\nplay it again: go test ./test/sim -run TestLocks -seed %d", err, opt.Seed)
		}
		all.add(r.locked)
		if *seed != 0 {
			break
		}
	}
	if all.Locked < 100 || all.Blocked < 50 || all.Granted < 10 || all.Cycles < 20 || all.Ended < 20 {
		t.Errorf("%+v shows little", all)
	}
	t.Logf("%+v", all)
}
