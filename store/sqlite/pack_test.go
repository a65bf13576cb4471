package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
)

// TestPack packs output that was added piece by piece. Afterwards it takes less
// space and has the same pieces. A running session is not packed.
func TestPack(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "coppice.db"))
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	id := fill(t, s, at)
	read := func() (out []coppice.Output, kept store.Kept) {
		t.Helper()
		err := s.View(t.Context(), func(r store.Reader) (err error) {
			if kept, err = r.History.Kept(); err != nil {
				return err
			}
			out, err = r.Outputs.After(id, -1, 10_000)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out, kept
	}
	pack := func() {
		t.Helper()
		for more := true; more; {
			var err error
			if more, err = s.Pack(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range int64(500) {
		kind := coppice.OutputStdout
		if i%100 == 7 {
			kind = coppice.OutputImage // not packed; it separates two blocks
		}
		err := s.Update(t.Context(), func(tx store.Tx) error {
			return tx.Outputs.Add(id, i, i+1, []coppice.Output{{Offset: i, At: at.Add(time.Duration(i)), Kind: kind, Data: fmt.Appendf(nil, "this is what it wrote at %d\n", i)}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	before, loose := read()
	if len(before) != 500 {
		t.Fatalf("%d pieces", len(before))
	}
	pack()
	if _, kept := read(); kept != loose {
		t.Errorf("a running session was packed: %+v, %+v", kept, loose)
	}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		x, err := tx.Sessions.Get(id)
		if err != nil {
			return err
		}
		x.State, x.EndedAt = coppice.SessionDone, at
		return tx.Sessions.Put(&x)
	})
	if err != nil {
		t.Fatal(err)
	}
	pack()
	after, packed := read()
	if d := cmp.Diff(before, after); d != "" {
		t.Error(d)
	}
	if packed.Output > loose.Output/2 {
		t.Errorf("%d bytes became %d", loose.Output, packed.Output)
	}
	err = s.View(t.Context(), func(r store.Reader) error {
		for _, from := range []int64{0, 6, 7, 8, 250, 499} {
			next, err := r.Outputs.After(id, from-1, 1)
			if err != nil || len(next) != 1 || next[0].Offset != from {
				t.Errorf("after %d: %v, %v", from-1, next, err)
			}
			last, err := r.Outputs.Before(id, from+1, 1)
			if err != nil || len(last) != 1 || last[0].Offset != from {
				t.Errorf("before %d: %v, %v", from+1, last, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
