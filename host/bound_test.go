package host

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/internal/spool"
)

// sizeOf returns the size of the files below a directory.
func sizeOf(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		n += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An agent that writes much more than is kept ends as usual. The spool has the
// start, the end and a note in between.
func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	const limit, total = 1 << 20, 24 << 20
	b := setup(t, "talk", "flood", "25165824")
	b.spec.Output = limit
	b.start("")
	x := b.ended()
	if x.Code != 0 || x.Error != "" || x.Outcome.Summary != "25165824 bytes, exit 0 " {
		t.Fatalf("ended with %+v", x)
	}
	if size := sizeOf(t, filepath.Join(b.dir, spoolDir)); size > limit*5/4 {
		t.Errorf("the spool takes %d bytes", size)
	}
	var all bytes.Buffer
	for i := 0; i < total; i += blockSize {
		all.Write(block(i))
	}
	out := b.output(coppice.OutputStdout)
	same := 0
	for same < len(out) && out[same] == all.Bytes()[same] {
		same++
	}
	if same < limit/2 || !bytes.HasSuffix(all.Bytes(), out[same:]) || len(out)-same < limit/32 {
		t.Errorf("%d bytes are kept, %d of them the beginning, and the rest is the end: %v", len(out), same, bytes.HasSuffix(all.Bytes(), out[same:]))
	}
	var dropped int64
	visible := 0
	for _, e := range b.events(coppice.OutputHost) {
		if e.Name == coppice.NameDropped && strings.Contains(e.Text, "output beyond 1 MiB is not kept") {
			visible++
		}
		dropped = max(dropped, e.Bytes)
	}
	if visible != 1 || dropped != x.Dropped || x.Dropped < total-int64(len(out)) {
		t.Errorf("%d notes, the last of them of %d bytes; %d were dropped of %d", visible, dropped, x.Dropped, total)
	}
}

// events returns the events of a kind of output.
func (b *bundle) events(kind coppice.OutputKind) (all []coppice.AgentEvent) {
	b.t.Helper()
	for d := json.NewDecoder(bytes.NewReader(b.output(kind))); d.More(); {
		var e coppice.AgentEvent
		if err := d.Decode(&e); err != nil {
			b.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// For any pieces in any order: the spool takes at most the limit and a quarter.
// It has a start and an end of the plain pieces and every piece that decides.
// Missing bytes are counted.
func TestBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "bound")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		w, err := spool.Open(dir)
		if err != nil {
			rt.Fatal(err)
		}
		const limit = 64 << 10
		h := &host{spool: w, now: time.Now, term: newTerminal(RuntimePipe), bound: bound{most: limit}}
		var plain, deciding [][]byte
		var size int64
		for i := range rapid.IntRange(0, 100).Draw(rt, "pieces") {
			if rapid.IntRange(0, 9).Draw(rt, "decides") == 0 {
				e := coppice.AgentEvent{Kind: coppice.KindQuestion, Text: strings.Repeat("?", i)}
				h.event(spool.Event, e)
				deciding = append(deciding, coppice.Raw(e))
				continue
			}
			p := bytes.Repeat([]byte{byte(i)}, rapid.IntRange(1, 4<<10).Draw(rt, "size"))
			h.append(spool.Stdout, p)
			plain = append(plain, p)
			size += int64(len(p))
		}
		h.release()
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		if w.Offset() > limit*5/4 {
			rt.Fatalf("the spool takes %d bytes", w.Offset())
		}
		r, err := spool.NewReader(dir, 0)
		if err != nil {
			rt.Fatal(err)
		}
		defer r.Close()
		var kept int64
		next, gaps := 0, 0
		for {
			f, err := r.Next()
			if err != nil {
				break
			}
			switch f.Kind {
			case spool.Event:
				if len(deciding) == 0 || !bytes.Equal(f.Data, deciding[0]) {
					rt.Fatalf("another event than the next: %s", f.Data)
				}
				deciding = deciding[1:]
			case spool.Stdout:
				if !bytes.Equal(f.Data, plain[next]) {
					gaps++
					for next < len(plain) && !bytes.Equal(f.Data, plain[next]) {
						next++
					}
				}
				next++
				kept += int64(len(f.Data))
			}
		}
		if gaps > 1 || next != len(plain) || len(deciding) > 0 {
			rt.Fatalf("%d gaps, %d of %d pieces, %d events are missing", gaps, next, len(plain), len(deciding))
		}
		if kept+h.bound.dropped != size {
			rt.Fatalf("%d bytes are kept and %d dropped of %d", kept, h.bound.dropped, size)
		}
	})
}
