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

// Output that might start a secret is not accepted before its end is known.
// These limit how much can follow it: then it is accepted as if nothing
// followed.
const (
	mostBehind      = 256 // frames
	mostBytesBehind = 128 << 10
)

// masks has the state of masking at a session's cursor, by stream of output. A
// stream of raw bytes continues from frame to frame. Events and notices are
// whole, but a private key can span several of one kind.
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

// encode returns the masks as stored; nil if there is nothing to store.
func (m masks) encode() ([]byte, error) {
	if len(m) == 0 {
		return nil, nil
	}
	return json.Marshal(m)
}

// masker masks the secrets in one batch of frames.
type masker struct {
	redact  *redact.Redactor
	frames  []fabric.Frame
	done    []masked
	now     masks                        // as far as the streams are decided
	waiting map[coppice.OutputKind][]int // frames that are not decided yet
}

// masked is a decided frame, and the state of its stream after it.
type masked struct {
	data   []byte
	stream string
	behind redact.State
}

// mask masks the secrets in a batch. It returns the frames that can be accepted,
// and the masks after them. These are all frames if the session is quiet, or
// else those before the first that is not decided.
func mask(r *redact.Redactor, before masks, frames []fabric.Frame, quiet bool) ([]coppice.Output, masks) {
	m := &masker{redact: r, frames: frames, done: make([]masked, len(frames)), now: before.clone(), waiting: map[coppice.OutputKind][]int{}}
	for i, f := range frames {
		switch f.Kind {
		case coppice.OutputImage: // its bytes are not text
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

// raw continues a stream of raw bytes.
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

// stale reports whether a stream has written nothing for a while although others
// have, or has waited too long.
func (m *masker) stale(list []int) bool {
	size, newest := 0, m.frames[len(m.frames)-1].At
	for _, f := range m.frames[list[0]:] {
		size += len(f.Data)
	}
	return len(m.frames)-list[0] > mostBehind || size-len(m.frames[list[0]].Data) > mostBytesBehind ||
		newest.Sub(m.frames[list[len(list)-1]].At) >= fabric.Quiet
}

// event masks the secrets in an event, which stays valid. Its text is a line, or
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

// eachString replaces the strings in a JSON text, by their index in it.
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

// take returns the first taken frames, and the masks after them.
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
