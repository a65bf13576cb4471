package ingest

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"coppice"
	"coppice/fabric"
	"coppice/internal/redact"
)

// Output that may begin a secret is not taken until what follows decides. These
// bound for how much of what follows: then it is taken as if nothing did.
const (
	mostBehind      = 256 // frames
	mostBytesBehind = 128 << 10
)

// masks is what is remembered at a session's cursor, by the stream of output it
// belongs to. A stream of raw bytes continues from frame to frame. Events and notices
// are whole, but a private key may span several of one kind.
type masks map[string]redact.State

func decodeMasks(raw []byte) (masks, error) {
	m := masks{}
	if len(raw) == 0 {
		return m, nil
	}
	err := json.Unmarshal(raw, &m)
	return m, err
}

func (m masks) clone() masks {
	c := masks{}
	maps.Copy(c, m)
	return c
}

// encode returns the masks as they are kept; nil when there is nothing to keep.
func (m masks) encode() ([]byte, error) {
	if len(m) == 0 {
		return nil, nil
	}
	return json.Marshal(m)
}

// masker hides the secrets in one batch of frames.
type masker struct {
	redact  *redact.Redactor
	frames  []fabric.Frame
	done    []masked
	now     masks                        // as far as the streams are decided
	waiting map[coppice.OutputKind][]int // frames that are not decided
}

// masked is a frame that is decided, and the state of its stream behind it.
type masked struct {
	data   []byte
	stream string
	behind redact.State
}

// mask hides the secrets in a batch. It returns the frames that can be taken: all
// of them when the session is quiet, else those before the first that is not
// decided; and the masks behind those.
func mask(r *redact.Redactor, before masks, frames []fabric.Frame, quiet bool) ([]coppice.Output, masks) {
	m := &masker{redact: r, frames: frames, done: make([]masked, len(frames)), now: before.clone(), waiting: map[coppice.OutputKind][]int{}}
	for i, f := range frames {
		switch f.Kind {
		case coppice.OutputImage: // whose bytes are no text
			m.done[i].data = f.Data
		case coppice.OutputEvent, coppice.OutputHost:
			m.event(i)
		default:
			m.waiting[f.Kind] = append(m.waiting[f.Kind], i)
			m.raw(f.Kind, false)
		}
	}
	taken := len(frames)
	for kind, list := range m.waiting {
		if len(list) > 0 && (quiet || m.stale(list)) {
			m.raw(kind, true)
		} else if len(list) > 0 {
			taken = min(taken, list[0])
		}
	}
	return m.take(before, taken)
}

// raw continues with a stream of raw bytes.
func (m *masker) raw(kind coppice.OutputKind, last bool) {
	list, stream := m.waiting[kind], string(kind)
	pieces := make([][]byte, len(list))
	for n, i := range list {
		pieces[n] = m.frames[i].Data
	}
	for n, p := range m.redact.Pieces(m.now[stream], pieces, last) {
		m.done[list[n]] = masked{p.Text, stream, p.Behind}
		m.now[stream] = p.Behind
		m.waiting[kind] = list[n+1:]
	}
}

// stale reports whether a stream has written nothing for a while though others
// have, or has waited too long.
func (m *masker) stale(list []int) bool {
	size, newest := 0, m.frames[len(m.frames)-1].At
	for _, f := range m.frames[list[0]:] {
		size += len(f.Data)
	}
	return len(m.frames)-list[0] > mostBehind || size-len(m.frames[list[0]].Data) > mostBytesBehind ||
		newest.Sub(m.frames[list[len(list)-1]].At) >= fabric.Quiet
}

// event hides the secrets in an event, which stays one. Its text is a line, or
// lines, of the stream of its kind.
func (m *masker) event(i int) {
	data, stream := m.frames[i].Data, string(m.frames[i].Kind)
	if rest, ok := bytes.CutPrefix(data, []byte(`{"kind":"`)); ok {
		kind, _, _ := bytes.Cut(rest, []byte(`"`))
		stream += "/" + string(kind)
	}
	st := m.now[stream]
	if !st.Zero() || !m.redact.Clean(data) {
		text := false
		data = eachString(data, func(n int, s string) string {
			if n == 2 {
				text = s == "text"
			}
			if n != 3 || !text {
				return m.redact.String(s)
			}
			line := m.redact.Pieces(st, [][]byte{[]byte(s + "\n")}, true)[0]
			st = line.Behind
			return strings.TrimSuffix(string(line.Text), "\n")
		})
	}
	m.done[i] = masked{data, stream, st}
	m.now[stream] = st
}

// eachString replaces the strings in a JSON text, by their number in it.
func eachString(data []byte, f func(n int, s string) string) []byte {
	var out []byte
	for n := 0; ; n++ {
		begin := bytes.IndexByte(data, '"')
		if begin < 0 {
			return append(out, data...)
		}
		end := begin + 1
		for end < len(data) && data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(data))
		out = append(out, data[:begin]...)
		out = append(out, replaced(data[begin:end], func(s string) string { return f(n, s) })...)
		data = data[end:]
	}
}

func replaced(literal []byte, f func(string) string) []byte {
	var s string
	if err := json.Unmarshal(literal, &s); err != nil {
		return []byte(f(string(literal))) // not JSON after all
	}
	t := f(s)
	if t == s {
		return literal
	}
	b, err := json.Marshal(t)
	if err != nil {
		return []byte(`""`)
	}
	return b
}

// take returns the first so many frames, and the masks behind them.
func (m *masker) take(before masks, taken int) ([]coppice.Output, masks) {
	out, behind := make([]coppice.Output, taken), before.clone()
	for i, d := range m.done[:taken] {
		out[i] = m.frames[i].Output
		out[i].Data = d.data
		if d.stream == "" {
			continue
		}
		if d.behind.Zero() {
			delete(behind, d.stream)
		} else {
			behind[d.stream] = d.behind
		}
	}
	return out, behind
}
