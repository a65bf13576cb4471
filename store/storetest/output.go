package storetest

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func testSessionCursor(t *testing.T, open Open) {
	s := open(t)
	c := session(t, s, task(t, s, project(t, s, "app"), 1, nil), 1, func(c *coppice.Session) {
		c.Prompt = strings.Repeat("do it ", 700_000) // about 4 MiB
	})
	at := start.Add(time.Minute)
	update(t, s, func(tx store.Tx) error {
		return tx.Outputs.Add(c.ID, 0, 10, []coppice.Output{
			{Offset: 4, At: at, Kind: coppice.OutputStdout, Data: []byte("x")},
			{Offset: 9, At: at.Add(-time.Second), Kind: coppice.OutputStdout, Data: []byte("y")},
		})
	})
	c.State, c.Summary = coppice.SessionDone, "well"
	update(t, s, func(tx store.Tx) error { return tx.Sessions.Put(&c) }) // knows nothing of the output
	c.Cursor, c.OutputAt = 10, at
	get := func() coppice.Session {
		return get(t, s, func(r store.Reader) (coppice.Session, error) { return r.Sessions.Get(c.ID) })
	}
	same(t, "a session put after its output", c, get())
	bare := c
	bare.Prompt = ""
	update(t, s, func(tx store.Tx) error { return tx.Sessions.Put(&bare) })
	same(t, "a session put without its prompt", c, get())
	c.Prompt = "another"
	update(t, s, func(tx store.Tx) error { return tx.Sessions.Put(&c) })
	same(t, "a session with another prompt", c, get())
}

func testOutput(t *testing.T, open Open) {
	s := open(t)
	k := task(t, s, project(t, s, "app"), 1, nil)
	c, other := session(t, s, k, 1, nil), session(t, s, k, 2, nil)
	piece := func(offset int64, kind coppice.OutputKind, data string) coppice.Output {
		return coppice.Output{SessionID: c.ID, Offset: offset, At: start, Kind: kind, Data: []byte(data)}
	}
	a, b, d := piece(1, coppice.OutputStdout, "a\x00\xff"), piece(5, coppice.OutputEvent, "{}"), piece(9, coppice.OutputStdout, "")
	add := func(from, to int64, out ...coppice.Output) error {
		return s.Update(t.Context(), func(tx store.Tx) error { return tx.Outputs.Add(c.ID, from, to, out) })
	}
	if err := add(0, 6, a, b); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "the same batch again", add(0, 6, a, b), coppice.EConflict)
	wantCode(t, "a batch that skips", add(7, 9, d), coppice.EConflict)
	for _, state := range []string{"", `{"stdout":{"key":2}}`, `{}`, ""} {
		update(t, s, func(tx store.Tx) error { return tx.Outputs.PutMask(c.ID, []byte(state)) })
		if got := get(t, s, func(r store.Reader) ([]byte, error) { return r.Outputs.Mask(c.ID) }); string(got) != state {
			t.Errorf("the mask is %q, not %q", got, state)
		}
	}
	changed := piece(5, coppice.OutputEvent, "another")
	if err := add(6, 10, changed, d); err != nil {
		t.Fatal(err)
	}
	big := session(t, s, k, 3, nil)
	var large []coppice.Output
	for i := range 3 {
		large = append(large, coppice.Output{SessionID: big.ID, Offset: int64(i), At: start, Kind: coppice.OutputStdout, Data: bytes.Repeat([]byte{'x'}, store.MostOutput/2)})
	}
	update(t, s, func(tx store.Tx) error { return tx.Outputs.Add(big.ID, 0, 3, large) })
	view(t, s, func(r store.Reader) error {
		same(t, "all", []coppice.Output{a, b, d}, must(r.Outputs.After(c.ID, 0, 10)))
		same(t, "after one", []coppice.Output{b, d}, must(r.Outputs.After(c.ID, 1, 10)))
		same(t, "at most one", []coppice.Output{a}, must(r.Outputs.After(c.ID, 0, 1)))
		same(t, "of a kind", []coppice.Output{a, d}, must(r.Outputs.After(c.ID, 0, 10, coppice.OutputStdout)))
		same(t, "of two kinds", []coppice.Output{a, b, d}, must(r.Outputs.After(c.ID, 0, 10, coppice.OutputStdout, coppice.OutputEvent)))
		same(t, "more than a list holds", large[:2], must(r.Outputs.After(big.ID, -1, 10)))
		same(t, "the rest of it", large[2:], must(r.Outputs.After(big.ID, 1, 10)))
		same(t, "back, more than a list holds", large[1:], must(r.Outputs.Before(big.ID, 9, 10)))
		same(t, "of another", nil, must(r.Outputs.After(other.ID, 0, 10)))
		same(t, "cursor", int64(10), must(r.Sessions.Get(c.ID)).Cursor)
		return nil
	})
}

func testPicture(t *testing.T, open Open) {
	s := open(t)
	k := task(t, s, project(t, s, "app"), 1, nil)
	c, other := session(t, s, k, 1, nil), session(t, s, k, 2, nil)
	large := []byte(strings.Repeat("\x89PNG\x00", 500_000))
	word := coppice.Output{SessionID: c.ID, Offset: 3, At: start, Kind: coppice.OutputEvent, Data: []byte("{}")}
	picture := coppice.Output{SessionID: c.ID, Offset: 7, At: start, Kind: coppice.OutputImage, Data: large}
	update(t, s, func(tx store.Tx) error { return tx.Outputs.Add(c.ID, 0, 8, []coppice.Output{word, picture}) })
	listed := picture
	listed.Data, listed.Size = nil, int64(len(large))
	view(t, s, func(r store.Reader) error {
		same(t, "all", []coppice.Output{word, listed}, must(r.Outputs.After(c.ID, -1, 10)))
		same(t, "back", []coppice.Output{word, listed}, must(r.Outputs.Before(c.ID, 100, 10)))
		same(t, "pictures", []coppice.Output{listed}, must(r.Outputs.After(c.ID, -1, 10, coppice.OutputImage)))
		same(t, "one", picture, must(r.Outputs.Picture(c.ID, 7)))
		for what, at := range map[string][2]int64{"no picture": {c.ID, 3}, "nothing there": {c.ID, 8}, "another's": {other.ID, 7}, "nobody's": {99, 7}} {
			_, err := r.Outputs.Picture(at[0], at[1])
			wantCode(t, what, err, coppice.ENotFound)
		}
		return nil
	})
}
