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

// Spec.Output limits a session's output. People need the start and the end, so
// the host leaves out the middle. When the spool has reached the limit, the host
// keeps further pieces in memory and drops the oldest of them. It appends the
// rest when the session ends. Events that change facts (questions, states,
// usage) are spooled anyway, up to an eighth of the limit. The agent does not
// notice: its output is still read and passed to its driver.

const (
	mostEnd     = 1 << 20          // bytes of the end that are kept, and at most an eighth of the limit
	reportEvery = 10 * time.Second // how often the spool reports the dropped bytes; also when they have doubled
)

// bound keeps a session's output within its limit.
type bound struct {
	most          int64 // 0 means no limit
	kept          int64 // bytes of pieces within the limit
	decided       int64 // bytes beyond it, of events that change facts
	over          bool  // the limit was reached
	end           []heldPiece
	endSize       int64
	dropped       int64     // bytes of pieces that were not kept
	reported      time.Time // when the spool last reported them,
	reportedBytes int64     // and how many it reported
}

// heldPiece is a piece that is kept in memory until the session ends.
type heldPiece struct {
	at   time.Time
	kind spool.Kind
	data []byte
}

// fits reports whether a piece can be spooled now. After the first piece that
// does not fit, no piece does: a known end is better than unknown gaps.
func (b *bound) fits(size int64, decides bool) bool {
	if b.most == 0 {
		return true
	}
	if !b.over && b.kept+size <= b.most {
		b.kept += size
		return true
	}
	b.over = true
	if !decides || b.decided+size > b.most/8 {
		return false
	}
	b.decided += size
	return true
}

// wait keeps a piece in memory, and drops the oldest ones beyond the limit.
func (b *bound) wait(at time.Time, kind spool.Kind, data []byte) {
	if kind != spool.Event { // nobody else has the bytes of an event
		data = slices.Clone(data)
	}
	b.end = append(b.end, heldPiece{at, kind, data})
	b.endSize += spool.Size(len(data))
	n := 0
	for ; b.endSize > min(mostEnd, b.most/8); n++ {
		b.endSize -= spool.Size(len(b.end[n].data))
		b.dropped += int64(len(b.end[n].data))
	}
	clear(b.end[:n]) // frees their memory
	b.end = b.end[n:]
}

// decides reports whether an event changes facts or explains a failure.
func decides(kind spool.Kind, e coppice.AgentEvent) bool {
	return kind == spool.Host || e.ChangesFacts() || e.Kind == coppice.KindError || e.Kind == coppice.KindLimit
}

// holdBack keeps a piece that does not fit in the spool.
func (h *host) holdBack(kind spool.Kind, data []byte) {
	first := h.bound.reported.IsZero()
	h.bound.wait(h.now(), kind, data)
	if !first && h.now().Sub(h.bound.reported) < reportEvery && (h.bound.dropped == 0 || h.bound.dropped < 2*h.bound.reportedBytes) {
		return
	}
	h.bound.reported, h.bound.reportedBytes = h.now(), h.bound.dropped
	text := ""
	if first {
		text = fmt.Sprintf("output beyond %v is not kept; its end follows when the session has ended", coppice.Bytes(h.bound.most))
	}
	// This also shows followers that the agent continues.
	h.event(spool.Host, agent.Dropped(text, h.bound.dropped))
}

// release appends the end of the output when nothing can follow it.
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

// append appends a piece of output, within the session's limit.
func (h *host) append(kind spool.Kind, data []byte) { h.put(kind, data, kind == spool.App) }

func (h *host) put(kind spool.Kind, data []byte, decides bool) {
	if h.bound.fits(spool.Size(len(data)), decides) {
		h.write(h.now(), kind, data)
	} else if kind == spool.Host {
		h.bound.dropped += int64(len(data))
	} else {
		h.holdBack(kind, data)
	}
}
