package host

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"coppice/agent"
)

// callWriter answers one call. A client can give up if it gets nothing for a minute
// or a few. So the answer to a call that waits becomes a stream of events: the
// headers are sent early, then a comment now and then, and at last one event
// with the reply.
type callWriter struct {
	w      http.ResponseWriter
	call   Call
	timer  *time.Timer
	id     json.RawMessage // of the request; empty if it is a notification
	opened bool            // the headers of a stream are sent
}

func newCallWriter(w http.ResponseWriter, c Call) *callWriter {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if c.Method == http.MethodPost && strings.Contains(c.Header["Accept"], "text/event-stream") {
		_ = json.Unmarshal(c.Body, &asked) // the answer to another body is not a stream
	}
	return &callWriter{w: w, call: c, id: asked.ID}
}

// wait returns a channel that gets a value when keepOpen is due.
func (c *callWriter) wait() <-chan time.Time {
	if len(c.id) == 0 {
		return nil
	}
	switch {
	case c.timer == nil:
		c.timer = time.NewTimer(streamAfter)
	case c.opened:
		c.timer.Reset(streamEvery)
	}
	return c.timer.C
}

func (c *callWriter) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
}

// keepOpen shows the client that the call still waits.
func (c *callWriter) keepOpen() {
	if !c.opened {
		c.opened = true
		c.w.Header().Set("Content-Type", "text/event-stream")
		c.w.Header().Set("Cache-Control", "no-cache")
		c.w.WriteHeader(http.StatusOK)
	}
	_, _ = c.w.Write([]byte(": waiting\n\n")) // the agent might have left
	_ = http.NewResponseController(c.w).Flush()
}

// reply sends the answer.
func (c *callWriter) reply(a Reply) {
	if !c.opened {
		for name, v := range a.Header {
			c.w.Header().Set(name, v)
		}
		c.w.WriteHeader(a.Status)
		_, _ = c.w.Write(a.Body)
		return
	}
	body := bytes.TrimSpace(a.Body)
	if a.Status != http.StatusOK || !json.Valid(body) {
		body = c.failure(a)
	}
	_, _ = c.w.Write([]byte("event: message\ndata: " + string(bytes.ReplaceAll(body, []byte("\n"), nil)) + "\n\n"))
}

// failure returns the error of a call whose stream is open already, so that its
// status can no longer say it.
func (c *callWriter) failure(a Reply) []byte {
	text := strings.TrimSpace(string(a.Body))
	if text == "" {
		text = http.StatusText(a.Status)
	}
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	return agent.Encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   failure         `json:"error"`
	}{"2.0", c.id, failure{-32000, text}})
}
