package sim

import "testing"

// TestRetries plays histories in which projects and tasks have all policies for
// failed sessions and all completion checks. retriesHold compares what follows each
// session with them. Everything that they can lead to has happened.
func TestRetries(t *testing.T) {
	t.Parallel()
	var all retries
	if !histories(t, 15000, 24, func(o *Options) { o.Retries, o.Tasks, o.Steps = true, 14, 800 }, func(r Report) { all.add(r.retries) }) {
		return
	}
	if t.Logf("%+v", all); min(all.Diagnosed, all.Denied, all.TakenOver, all.TooMany, all.Errors, all.Unchanged) < 2 {
		t.Error("that shows little")
	}
}
