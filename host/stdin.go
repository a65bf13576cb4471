package host

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"coppice"
)

// stdinLimit limits the bytes that wait for an agent that does not read. One
// message is always accepted, however large.
const stdinLimit = 4 << 20

var (
	errStdinClosed = coppice.Errorf(coppice.EConflict, "the agent takes no more input")
	errStdinFull   = coppice.Errorf(coppice.EUnavailable, "the agent does not read its input").WithFix("retry later")
)

// stdin writes to the agent without blocking the caller. Its methods are safe
// for concurrent use, except run, which one goroutine calls.
type stdin struct {
	w    *os.File
	wake chan struct{}

	// A terminal is not closed while output is read from it. A key ends the
	// input instead.
	end    []byte              // written instead of closing w
	shared bool                // the reader of w closes it
	encode func([]byte) []byte // how bytes are typed; nil means unchanged

	mu     sync.Mutex
	queue  []message
	size   int
	closed bool // no more input for the agent is accepted
	over   bool // nothing more is written
}

type message struct {
	data     []byte
	accepted chan error // gets one value
}

func newStdin(w *os.File) *stdin { return &stdin{w: w, wake: make(chan struct{}, 1)} }

// endOfFile is the key that ends the input: control-d.
const endOfFile = 4

// write queues the bytes. The channel gets nil when all of them are accepted, or
// the reason why they are not.
func (s *stdin) write(data []byte) (<-chan error, error) {
	if s.encode != nil {
		data = s.encode(data)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errStdinClosed
	}
	return s.add(data)
}

// raw writes to the program between the host and the agent, such as tmux, which
// reads longer than the agent.
func (s *stdin) raw(data []byte) (<-chan error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, errStdinClosed
	}
	return s.add(data)
}

func (s *stdin) add(data []byte) (<-chan error, error) {
	if s.size > 0 && s.size+len(data) > stdinLimit {
		return nil, errStdinFull
	}
	m := message{data: data, accepted: make(chan error, 1)}
	s.queue = append(s.queue, m)
	s.size += len(data)
	s.notify()
	return m.accepted, nil
}

// close closes the agent's stdin after the queued bytes. It reports whether it
// was open.
func (s *stdin) close() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := !s.closed
	if s.end == nil {
		s.over = true
	} else if was {
		s.queue = append(s.queue, message{data: s.end, accepted: make(chan error, 1)})
		s.size += len(s.end)
	}
	s.closed = true
	s.notify()
	return was
}

// abort closes it immediately. Queued messages fail.
func (s *stdin) abort() {
	s.close()
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.notify()
	if s.shared {
		_ = s.w.SetWriteDeadline(time.Unix(1, 0))
		return
	}
	s.w.Close()
}

func (s *stdin) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run writes until stdin is closed.
func (s *stdin) run() {
	if !s.shared {
		defer s.w.Close()
	}
	for {
		m, ok, over := s.next()
		switch {
		case ok:
			_, err := s.w.Write(m.data)
			if err != nil {
				s.fail()
				err = writeError(err)
			}
			s.mu.Lock()
			s.size -= len(m.data)
			s.mu.Unlock()
			m.accepted <- err
		case over:
			return
		default:
			<-s.wake
		}
	}
}

// fail records that nobody reads any more.
func (s *stdin) fail() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.over = true, true
}

func (s *stdin) next() (m message, ok, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return m, false, s.over
	}
	m = s.queue[0]
	s.queue[0] = message{} // frees the bytes
	s.queue = s.queue[1:]
	return m, true, false
}

// writeError names the two usual causes of a failed write.
func writeError(err error) error {
	if errors.Is(err, fs.ErrClosed) || errors.Is(err, os.ErrClosed) {
		return errStdinClosed
	}
	return coppice.Errorf(coppice.EConflict, "the agent closed its input: %w", err)
}
