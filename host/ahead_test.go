package host

import (
	"os"
	"path/filepath"
	"testing"
)

// A host that was launched ahead waits without acquiring anything, and continues
// when it gets its spec.
func TestAhead(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	a := b.launch()
	b.phase(PhaseNone)
	if err := a.Start(b.ctx, b.spec, ""); err != nil {
		t.Fatal(err)
	}
	b.until(contains("ready\n"))
	if st, _ := b.phase(PhaseRunning); st.PID != a.cmd.Process.Pid {
		t.Errorf("host %d, launched %d", st.PID, a.cmd.Process.Pid)
	}
}

// A host that is dropped, or whose launcher is gone, exits and leaves only an
// empty log. A later session in the directory starts as usual.
func TestDropped(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	a := b.launch()
	a.Drop()
	a.Wait()
	if code := a.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("ended with %d", code)
	}
	b.phase(PhaseNone)
	files, err := os.ReadDir(b.dir)
	if err != nil || len(files) != 1 || files[0].Name() != logFile {
		t.Errorf("%v, %v", files, err)
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, logFile)); err != nil || len(text) > 0 {
		t.Errorf("log %q, %v", text, err)
	}
	b.run()
}

// If the session runs already, a second host is not needed.
func TestAheadTooLate(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	a := b.launch()
	b.start("")
	st, _ := b.phase(PhaseRunning)
	if err := a.Start(b.ctx, b.spec, ""); err != nil {
		t.Fatal(err)
	}
	a.Wait()
	if now, _ := b.phase(PhaseRunning); now.PID != st.PID {
		t.Errorf("host %d, before %d", now.PID, st.PID)
	}
}
