package spool

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var epoch = time.Unix(1_700_000_000, 0).UTC()

func appendAll(t testing.TB, w *Writer, chunks [][]byte) []int64 {
	t.Helper()
	var offsets []int64
	for i, c := range chunks {
		off, err := w.Append(epoch.Add(time.Duration(i)), Kind(1+i%4), c)
		if err != nil {
			t.Fatal(err)
		}
		offsets = append(offsets, off)
	}
	return offsets
}

// readAll reads from offset to the end, or to the first error other than the end.
func readAll(t testing.TB, dir string, offset int64) ([]Frame, error) {
	t.Helper()
	r, err := NewReader(dir, offset)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var frames []Frame
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
}

func genChunks(t *rapid.T) [][]byte {
	return rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 200), 1, 40).Draw(t, "chunks")
}

func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "spool")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Every frame can be read from its own offset on, across segments, whatever
// was trimmed before it, and by a reader that was there all the time.
func TestReadFromAnyOffset(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir := tempDir(rt)
		chunks := genChunks(rt)
		w, err := open(dir, rapid.Int64Range(1, 600).Draw(rt, "segment"))
		if err != nil {
			rt.Fatal(err)
		}
		live, err := NewReader(dir, 0)
		if err != nil {
			rt.Fatal(err)
		}
		defer live.Close()
		var offsets []int64
		next := 0
		for i, c := range chunks {
			offsets = append(offsets, appendAll(t, w, [][]byte{c})[0])
			if !rapid.Bool().Draw(rt, "read now") {
				continue
			}
			for ; next <= i; next++ {
				f, err := live.Next()
				if err != nil || !bytes.Equal(f.Data, chunks[next]) || f.Offset != offsets[next] {
					rt.Fatalf("live frame %d: %v %v", next, f, err)
				}
			}
			if _, err := live.Next(); !errors.Is(err, io.EOF) {
				rt.Fatalf("at the end: %v", err)
			}
		}
		from := rapid.IntRange(0, len(chunks)-1).Draw(rt, "from")
		if err := Trim(dir, offsets[from]); err != nil {
			rt.Fatal(err)
		}
		frames, err := readAll(t, dir, offsets[from])
		if err != nil || len(frames) != len(chunks)-from {
			rt.Fatalf("%d frames of %d, %v", len(frames), len(chunks)-from, err)
		}
		for i, f := range frames {
			if !bytes.Equal(f.Data, chunks[from+i]) {
				rt.Fatalf("frame %d differs", i)
			}
		}
		if got := frames[len(frames)-1].Next; got != w.Offset() {
			rt.Fatalf("ends at %d, writer at %d", got, w.Offset())
		}
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}

// However a spool is cut or damaged, what is read is a prefix, and writing
// continues after a prefix.
func TestDamageLeavesPrefix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir := tempDir(rt)
		chunks := genChunks(rt)
		size := rapid.Int64Range(1, 2000).Draw(rt, "segment")
		w, err := open(dir, size)
		if err != nil {
			rt.Fatal(err)
		}
		appendAll(t, w, chunks)
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		list, _ := segments(dir)
		last := list[len(list)-1]
		b, err := os.ReadFile(last.path)
		if err != nil {
			rt.Fatal(err)
		}
		if rapid.Bool().Draw(rt, "cut") {
			b = b[:rapid.IntRange(0, len(b)).Draw(rt, "at")]
		} else if len(b) > 0 {
			b[rapid.IntRange(0, len(b)-1).Draw(rt, "flip")] ^= byte(rapid.IntRange(1, 255).Draw(rt, "bits"))
		}
		if err := os.WriteFile(last.path, b, 0o600); err != nil {
			rt.Fatal(err)
		}
		before, err := readAll(t, dir, 0)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			rt.Fatal(err)
		}
		w, err = open(dir, size)
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := w.Append(epoch, Host, []byte("again")); err != nil {
			rt.Fatal(err)
		}
		w.Close()
		after, err := readAll(t, dir, 0)
		if err != nil || len(after) != len(before)+1 || string(after[len(after)-1].Data) != "again" {
			rt.Fatalf("%d frames became %d, %v", len(before), len(after), err)
		}
		for i, f := range before {
			if !bytes.Equal(f.Data, chunks[i]) {
				rt.Fatalf("frame %d differs", i)
			}
		}
	})
}

func TestDamageInTheMiddle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := open(dir, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	chunks := make([][]byte, 20)
	for i := range chunks {
		chunks[i] = bytes.Repeat([]byte{byte(i)}, 50)
	}
	appendAll(t, w, chunks)
	list, _ := segments(dir)
	if err := os.Truncate(list[2].path, 30); err != nil {
		t.Fatal(err)
	}
	frames, err := readAll(t, dir, 0)
	if !errors.Is(err, ErrCorrupt) || len(frames) != 4 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
}

func TestWrongOffsets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := readAll(t, filepath.Join(dir, "none"), 0); err != nil {
		t.Fatalf("a spool that is not there yet is empty: %v", err)
	}
	w, err := open(dir, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	appendAll(t, w, [][]byte{make([]byte, 90), make([]byte, 90), make([]byte, 90)})
	if _, err := readAll(t, dir, 5); !errors.Is(err, ErrCorrupt) {
		t.Errorf("within a frame: %v", err)
	}
	if _, err := readAll(t, dir, w.Offset()+1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("behind the end: %v", err)
	}
	if err := Trim(dir, w.Offset()); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t, dir, 0); !errors.Is(err, ErrTrimmed) {
		t.Errorf("trimmed: %v", err)
	}
	if _, err := w.Append(epoch, Stdout, make([]byte, MaxData+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}

// A good frame in the wrong place, such as one from before a crash, is none.
func TestFrameOfAnotherPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(segmentPath(dir, 100), encode(nil, 0, epoch, Stdout, []byte("old")), 0o600); err != nil {
		t.Fatal(err)
	}
	if frames, err := readAll(t, dir, 100); !errors.Is(err, ErrCorrupt) {
		t.Errorf("frames %v, error %v; want %v", frames, err, ErrCorrupt)
	}
}

// The same bytes cut in any way come out as the same bytes.
func TestAnyCutSameBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir := tempDir(rt)
		chunks := genChunks(rt)
		w, err := open(dir, 300)
		if err != nil {
			rt.Fatal(err)
		}
		defer w.Close()
		appendAll(t, w, chunks)
		frames, err := readAll(t, dir, 0)
		if err != nil {
			rt.Fatal(err)
		}
		var got []byte
		for _, f := range frames {
			got = append(got, f.Data...)
		}
		if !bytes.Equal(got, bytes.Join(chunks, nil)) {
			rt.Fatal("bytes differ")
		}
	})
}

func FuzzSegment(f *testing.F) {
	good := encode(nil, 0, epoch, Stdout, []byte("hello"))
	f.Add(good)
	f.Add(encode(good, int64(len(good)), epoch, Event, []byte("{}")))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(segmentPath(dir, 0), b, 0o600); err != nil {
			t.Fatal(err)
		}
		frames, err := readAll(t, dir, 0)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		var again []byte
		for _, fr := range frames {
			again = encode(again, fr.Offset, fr.At, fr.Kind, fr.Data)
		}
		if !bytes.HasPrefix(b, again) {
			t.Fatal("the frames are not a prefix of the bytes")
		}
		w, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if w.Offset() != int64(len(again)) {
			t.Fatalf("reopened at %d, want %d", w.Offset(), len(again))
		}
		w.file.Close()
	})
}

func BenchmarkAppend(b *testing.B) {
	w, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer w.file.Close()
	data := make([]byte, 32<<10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := w.Append(epoch, Stdout, data); err != nil {
			b.Fatal(err)
		}
	}
}
