package sim

import "testing"

// TestLocks plays histories in which agents lock files, wait, release and crash: no
// lock outlives its session, and no waiting call is lost.
func TestLocks(t *testing.T) {
	t.Parallel()
	var all locked
	if !histories(t, 16000, 12, func(o *Options) { o.Locks, o.Steps = true, 600 }, func(r Report) { all.add(r.locked) }) {
		return
	}
	if all.Locked < 100 || all.Blocked < 50 || all.Granted < 10 || all.Cycles < 20 || all.Ended < 20 {
		t.Errorf("%+v shows little", all)
	}
	t.Logf("%+v", all)
}
