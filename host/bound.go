package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/internal/spool"
)

// What a session writes is bounded by Spec.Output. The beginning and the end
// are what people need, so the bound leaves out the middle: once the spool holds
// that much, further pieces wait in memory, the oldest of them are dropped, and
// those that are left at the session's end follow then. What decides about the
// session (questions, states, usage) is spooled all the same, up to an eighth of
// the bound. The agent never notices: its output is read and given to its driver
// as before.

const (
	mostEnd   = 1 << 20          // of the end that is kept, and no more than an eighth of the bound
	toldEvery = 10 * time.Second // how often the spool tells how much was dropped so far, and when that has doubled
)

// bound keeps a session's output within its limit.
type bound struct {
	most    int64 // 0 means no limit
	kept    int64 // taken by pieces within the limit
	decided int64 // taken beyond it by what decides about the session
	over    bool  // the limit was reached
	end     []ended
	endSize int64
	dropped int64     // bytes of pieces that are in no place
	told    time.Time // when the spool last told so,
	toldAs  int64     // and how many
}

// ended is a piece that waits for the session's end.
type ended struct {
	at   time.Time
	kind spool.Kind
	data []byte
}

// room tells whether a piece may be spooled now. The first piece that does not
// fit ends it for all that follow: a known end is better than unknown gaps.
func (b *bound) room(size int64, decides bool) bool {
	switch {
	case b.most == 0:
		return true
	case decides && b.over:
		if b.decided+size > b.most/8 {
			return false
		}
		b.decided += size
		return true
	case b.over || b.kept+size > b.most:
		b.over = true
		return false
	}
	b.kept += size
	return true
}

// wait keeps a piece for the end, and drops the oldest ones that do not fit.
func (b *bound) wait(at time.Time, kind spool.Kind, data []byte) {
	if kind != spool.Event { // whose bytes are nobody else's
		data = slices.Clone(data)
	}
	b.end = append(b.end, ended{at, kind, data})
	b.endSize += spool.Size(len(data))
	n := 0
	for ; b.endSize > min(mostEnd, b.most/8); n++ {
		b.endSize -= spool.Size(len(b.end[n].data))
		b.dropped += int64(len(b.end[n].data))
	}
	clear(b.end[:n]) // their memory is free from here on
	b.end = b.end[n:]
}

// decides tells whether an event counts for more than its text.
func decides(kind spool.Kind, e coppice.AgentEvent) bool {
	return kind == spool.Host || e.ChangesFacts() || e.Kind == coppice.KindError || e.Kind == coppice.KindLimit
}

// spare takes a piece that has no room in the spool.
func (h *host) spare(kind spool.Kind, data []byte) {
	first := h.bound.told.IsZero()
	h.bound.wait(h.now(), kind, data)
	if !first && h.now().Sub(h.bound.told) < toldEvery && (h.bound.dropped == 0 || h.bound.dropped < 2*h.bound.toldAs) {
		return
	}
	h.bound.told, h.bound.toldAs = h.now(), h.bound.dropped
	text := ""
	if first {
		text = fmt.Sprintf("output beyond %v is not kept; its end follows when the session has ended", coppice.Bytes(h.bound.most))
	}
	// Besides the number, this tells whoever follows that the agent goes on.
	h.event(spool.Host, agent.Dropped(text, h.bound.dropped))
}

// release appends the end of the output, once nothing can follow it.
func (h *host) release() {
	if h.bound.dropped > 0 {
		h.event(spool.Host, agent.Dropped(fmt.Sprintf("%v of output were left out here (limits.output)", coppice.Bytes(h.bound.dropped)), h.bound.dropped))
	}
	for _, p := range h.bound.end {
		h.write(p.at, p.kind, p.data)
	}
	h.bound.end = nil
}

// event appends an event as JSON.
func (h *host) event(kind spool.Kind, e coppice.AgentEvent) {
	b, err := json.Marshal(e)
	if err == nil && len(b) > spool.MaxData {
		err = spool.ErrTooLarge
	}
	if err != nil {
		h.note(fmt.Sprintf("an event of kind %s could not be recorded: %v", e.Kind, err))
		return
	}
	h.put(kind, b, decides(kind, e))
}

// append appends a piece of output, within the session's bound.
func (h *host) append(kind spool.Kind, data []byte) { h.put(kind, data, kind == spool.App) }

func (h *host) put(kind spool.Kind, data []byte, decides bool) {
	if h.bound.room(spool.Size(len(data)), decides) {
		h.write(h.now(), kind, data)
	} else if kind == spool.Host {
		h.bound.dropped += int64(len(data))
	} else {
		h.spare(kind, data)
	}
}
