package sqlite

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
)

func said(t interface{ Fatal(...any) }, kind, text string) []byte {
	b, err := json.Marshal(map[string]any{"kind": kind, "text": text, "ok": true})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// drawOutput draws the output of a session: raw bytes, events that repeat some of
// them, and other pieces.
func drawOutput(t *rapid.T) (out []coppice.Output) {
	lines := rapid.SliceOfN(rapid.StringMatching(`[a-z <"\\é]{0,40}`), 1, 8).Draw(t, "lines")
	place := int64(0)
	for range rapid.IntRange(1, 40).Draw(t, "pieces") {
		place += rapid.Int64Range(1, 1000).Draw(t, "step")
		o := coppice.Output{SessionID: 7, Offset: place, Data: []byte{}}
		if rapid.Bool().Draw(t, "timed") {
			o.At = time.Unix(0, rapid.Int64Range(1, 1<<60).Draw(t, "at")).UTC()
		}
		line := rapid.SampledFrom(lines).Draw(t, "line")
		switch rapid.IntRange(0, 4).Draw(t, "what") {
		case 0:
			o.Kind, o.Data = rapid.SampledFrom(blockKinds[:rawKinds]).Draw(t, "kind"), []byte(line+"\n"+rapid.SampledFrom(lines).Draw(t, "second"))
		case 1:
			o.Kind, o.Data = coppice.OutputEvent, said(t, "text", line)
		case 2:
			o.Kind, o.Data = coppice.OutputHost, rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "bytes")
		case 3:
			o.Kind, o.Data = coppice.OutputImage, []byte(line)
		case 4:
			o.Kind, o.Data = coppice.OutputEvent, []byte(`{"text":"`+line) // not valid JSON
		}
		if o.Data == nil {
			o.Data = []byte{}
		}
		out = append(out, o)
	}
	return out
}

// TestBlocks checks that blocks return the pieces that were put into them.
func TestBlocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		out := drawOutput(t)
		var got []coppice.Output
		last := int64(-1)
		for _, row := range blocks(out, rapid.SampledFrom([]int{flate.BestSpeed, flate.DefaultCompression}).Draw(t, "level")) {
			if row.Offset <= last {
				t.Fatalf("a row at %d follows one at %d", row.Offset, last)
			}
			last = row.Offset
			row.SessionID = 7
			pieces, err := allPieces(7).in(row)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, pieces...)
		}
		if d := cmp.Diff(out, got); d != "" {
			t.Fatal(d)
		}
	})
}

// TestDamagedBlocks checks that a damaged block causes an error and no panic.
func TestDamagedBlocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := blocks(drawOutput(t), flate.BestSpeed)
		data := bytes.Clone(rows[0].Data)
		for range rapid.IntRange(1, 5).Draw(t, "errors") {
			if len(data) > 0 {
				data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
			}
		}
		data = data[:rapid.IntRange(0, len(data)).Draw(t, "long")]
		_ = eachPiece(7, data, allPieces(7).piece, func(coppice.Output) {})
	})
}

// TestTextIsStoredOnce checks that a text in raw output and in an event is stored
// once.
func TestTextIsStoredOnce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var out, raw []coppice.Output
	place := int64(0)
	add := func(kind coppice.OutputKind, data []byte) {
		place++
		o := coppice.Output{Offset: place, Kind: kind, Data: data}
		if out = append(out, o); kind == coppice.OutputStdout {
			raw = append(raw, o)
		}
	}
	for range 20 {
		var chunk []byte
		var lines []string
		for len(chunk) < 20_000 { // more than the window of the compressor
			lines = append(lines, fmt.Sprintf("%016x%016x%016x", r.Uint64(), r.Uint64(), r.Uint64()))
			chunk = append(chunk, lines[len(lines)-1]+"\n"...)
		}
		add(coppice.OutputStdout, chunk)
		for _, line := range lines {
			add(coppice.OutputEvent, said(t, "text", line))
		}
	}
	size := func(out []coppice.Output) (n int) {
		for _, row := range blocks(out, flate.BestSpeed) {
			n += len(row.Data)
		}
		return n
	}
	if once, all := size(raw), size(out); all > once*3/2 {
		t.Errorf("the raw output takes %d bytes, and with its events %d", once, all)
	}
}
