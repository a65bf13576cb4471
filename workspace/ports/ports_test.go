package ports

import (
	"net"
	"slices"
	"testing"
)

func TestLedger(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	dir := t.TempDir()
	ledger := &Ledger{Dir: dir, Range: Range{First: taken, Last: taken + 200}}
	give := func(l *Ledger, owner string, n int) []int {
		t.Helper()
		ports, err := l.Give(t.Context(), owner, n)
		if err != nil {
			t.Fatal(err)
		}
		return ports
	}
	a := give(ledger, "a", 2)
	if len(a) != 2 || slices.Contains(a, taken) {
		t.Errorf("a has %v; %d is in use", a, taken)
	}
	// Another process has the same owners.
	other := &Ledger{Dir: dir, Range: ledger.Range}
	if again := give(other, "a", 2); !slices.Equal(a, again) {
		t.Errorf("a has %v, and then %v", a, again)
	}
	if b := give(other, "b", 1); slices.Contains(a, b[0]) {
		t.Errorf("a and b have port %d", b[0])
	}
	if err := ledger.Free(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	small := &Ledger{Dir: dir, Range: Range{First: taken, Last: taken}}
	if _, err := small.Give(t.Context(), "c", 1); err == nil {
		t.Error("a port in use was given")
	}
}
