package sqlite

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"coppice"
)

// Pieces of output are stored in blocks. A block is a row with several pieces. Its
// place is the place of the last piece, so "place > ?" finds the block with the
// next piece. A block stores each text once: if the text of an event is part of
// the raw output of the same block, the event has only a reference to it. Then the
// block is compressed.
//
// The first byte of a block is its form. The rest is deflated or plain: the length
// of its head, the head, the length of the raw bytes, the raw bytes, and all other
// data. The head has for each piece its kind and flags, the differences of its
// place and time to the previous piece, and its length.

// outputBlock is the kind of a row that is a block.
const outputBlock coppice.OutputKind = "block"

const (
	blockBytes  = 64 << 10 // maximum data of a block
	blockPieces = 1024     // maximum pieces of a block
	blockSmall  = 512      // blocks up to this size are not compressed
	refLeast    = 12       // shorter texts are not replaced by references
)

// The forms of a block, and the flags of a piece beside its kind.
const (
	blockPlain    = 0
	blockDeflated = 1

	pieceKind   = 7
	pieceNoTime = 8
	pieceRef    = 16
)

// blockKinds are the kinds of pieces in blocks, by their number. The first
// rawKinds are raw bytes. Each picture has a separate row.
var blockKinds = []coppice.OutputKind{
	coppice.OutputStdout, coppice.OutputStderr, coppice.OutputApp, coppice.OutputEvent, coppice.OutputHost,
}

const rawKinds = 3

var errBlock = errors.New("a block of output cannot be read")

// blocks turns output into rows. A row is a block, or a single piece of a kind
// that is not stored in blocks.
func blocks(out []coppice.Output, level int) []coppice.Output {
	var rows []coppice.Output
	for len(out) > 0 {
		n, size := 0, 0
		for n < len(out) && n < blockPieces && (n == 0 || size+len(out[n].Data) <= blockBytes) && slices.Contains(blockKinds, out[n].Kind) {
			size += len(out[n].Data)
			n++
		}
		if n == 0 {
			rows, out = append(rows, out[0]), out[1:]
			continue
		}
		last := out[n-1]
		rows = append(rows, coppice.Output{Offset: last.Offset, At: last.At, Kind: outputBlock, Data: encodeBlock(out[:n], level)})
		out = out[n:]
	}
	return rows
}

// blockWriter collects the parts of a block.
type blockWriter struct {
	head, raw, rest []byte
	place, moment   int64
	used            int // end of the part of raw that events already refer to
}

func encodeBlock(out []coppice.Output, level int) []byte {
	var w blockWriter
	for _, o := range out {
		w.add(o)
	}
	size := len(w.head) + len(w.raw) + len(w.rest)
	plain := make([]byte, 1, size+1+2*binary.MaxVarintLen64)
	plain[0] = blockPlain
	plain = append(binary.AppendUvarint(plain, uint64(len(w.head))), w.head...)
	plain = append(binary.AppendUvarint(plain, uint64(len(w.raw))), w.raw...)
	plain = append(plain, w.rest...)
	if size <= blockSmall {
		return plain
	}
	if packed := deflate(plain[1:], level); len(packed) < len(plain) {
		return packed
	}
	return plain
}

func (w *blockWriter) add(o coppice.Output) {
	kind := slices.Index(blockKinds, o.Kind)
	flags, ref := byte(kind), reference{}
	if o.At.IsZero() {
		flags |= pieceNoTime
	}
	data := o.Data
	switch {
	case kind < rawKinds:
		w.raw = append(w.raw, data...)
	default:
		if ref = w.find(data); ref.size > 0 {
			flags |= pieceRef
			data = slices.Concat(data[:ref.cut], data[ref.end:])
		}
		w.rest = append(w.rest, data...)
	}
	w.head = binary.AppendUvarint(append(w.head, flags), uint64(o.Offset-w.place))
	w.place = o.Offset
	if flags&pieceNoTime == 0 {
		now := o.At.UnixNano()
		w.head = binary.AppendVarint(w.head, now-w.moment)
		w.moment = now
	}
	w.head = binary.AppendUvarint(w.head, uint64(len(data)))
	if ref.size > 0 {
		for _, n := range []int{ref.cut, ref.from - w.used, ref.size} {
			w.head = binary.AppendUvarint(w.head, uint64(n))
		}
		w.used = ref.from + ref.size
	}
}

// reference says that the text of an event, data[cut:end], is also in the raw
// bytes.
type reference struct{ cut, end, from, size int }

// find searches for an event's text in the raw bytes after the last reference.
func (w *blockWriter) find(data []byte) (r reference) {
	before := []byte(`"text":`)
	i := bytes.Index(data, before)
	if i < 0 {
		return r
	}
	r.cut = i + len(before)
	r.end = r.cut + literal(data[r.cut:])
	var text string
	if r.end-r.cut < refLeast || json.Unmarshal(data[r.cut:r.end], &text) != nil {
		return reference{}
	}
	at := bytes.Index(w.raw[w.used:], []byte(text))
	if again, err := json.Marshal(text); at < 0 || err != nil || !bytes.Equal(again, data[r.cut:r.end]) {
		return reference{}
	}
	r.from, r.size = w.used+at, len(text)
	return r
}

// literal returns the length of the JSON string at the start of data, or 0 if
// there is none.
func literal(data []byte) int {
	if len(data) == 0 || data[0] != '"' {
		return 0
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return 0
}

// blockReader reads the head of a block.
type blockReader struct {
	head, raw, rest []byte
	failed          bool
}

func (r *blockReader) number() int64 {
	n, size := binary.Uvarint(r.head)
	if size <= 0 || int64(n) < 0 {
		r.failed = true
		return 0
	}
	r.head = r.head[size:]
	return int64(n)
}

func (r *blockReader) signed() int64 {
	n, size := binary.Varint(r.head)
	if size <= 0 {
		r.failed = true
		return 0
	}
	r.head = r.head[size:]
	return n
}

// part reads a length and returns that many bytes.
func (r *blockReader) part() []byte {
	n := r.number()
	return cutBytes(&r.head, n, &r.failed)
}

func cutBytes(b *[]byte, n int64, failed *bool) []byte {
	if n < 0 || n > int64(len(*b)) {
		*failed = true
		return nil
	}
	part := (*b)[:n:n]
	*b = (*b)[n:]
	return part
}

// plainBlock returns a block without compression.
func plainBlock(block []byte) ([]byte, error) {
	if len(block) == 0 {
		return nil, errBlock
	}
	if block[0] != blockDeflated {
		return block, nil
	}
	content, err := inflate(block[1:])
	if err != nil {
		return nil, errors.Join(errBlock, err)
	}
	return content, nil
}

// eachPiece calls f, in order, with the pieces of a block for which want is true.
func eachPiece(session int64, block []byte, want func(place int64, kind coppice.OutputKind) bool, f func(coppice.Output)) error {
	block, err := plainBlock(block)
	if err != nil {
		return err
	}
	r := blockReader{head: block[1:]}
	head := r.part()
	raw := r.part()
	r.head, r.raw, r.rest = head, raw, r.head
	place, moment, used := int64(0), int64(0), int64(0)
	for len(r.head) > 0 && !r.failed {
		flags := r.head[0]
		r.head = r.head[1:]
		place += r.number()
		o := coppice.Output{SessionID: session, Offset: place}
		if flags&pieceNoTime == 0 {
			moment += r.signed()
			o.At = time.Unix(0, moment).UTC()
		}
		kind, size := int(flags&pieceKind), r.number()
		if kind >= len(blockKinds) {
			return errBlock
		}
		o.Kind = blockKinds[kind]
		from := &r.rest
		if kind < rawKinds {
			from = &r.raw
		}
		o.Data = cutBytes(from, size, &r.failed)
		if flags&pieceRef == 0 {
			if want(place, o.Kind) {
				f(o)
			}
			continue
		}
		cut, begin, long := r.number(), used+r.number(), r.number()
		used = begin + long
		if r.failed || cut > int64(len(o.Data)) || used > int64(len(raw)) {
			return errBlock
		}
		if want(place, o.Kind) {
			text, err := json.Marshal(string(raw[begin:used]))
			if err != nil {
				return errors.Join(errBlock, err)
			}
			o.Data = slices.Concat(o.Data[:cut], text, o.Data[cut:])
			f(o)
		}
	}
	if r.failed {
		return errBlock
	}
	return nil
}

// deflaters has writers by level. They are pooled because they are large.
var deflaters = map[int]*sync.Pool{
	flate.BestSpeed:          {New: func() any { return newDeflater(flate.BestSpeed) }},
	flate.DefaultCompression: {New: func() any { return newDeflater(flate.DefaultCompression) }},
}

func newDeflater(level int) *flate.Writer {
	w, err := flate.NewWriter(io.Discard, level)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}

func deflate(b []byte, level int) []byte {
	var out bytes.Buffer
	out.WriteByte(blockDeflated)
	w := deflaters[level].Get().(*flate.Writer)
	defer deflaters[level].Put(w)
	w.Reset(&out)
	_, err := w.Write(b)
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err) // writing to a buffer cannot fail
	}
	return out.Bytes()
}

var inflaters = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}

func inflate(b []byte) ([]byte, error) {
	r := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(b), nil); err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, blockBytes+blockBytes/4))
	out.WriteByte(blockPlain)
	_, err := out.ReadFrom(r)
	return out.Bytes(), err
}
