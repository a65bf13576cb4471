package host

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"coppice"
)

// stdinRoom bounds what waits for an agent that does not read. One message is
// always taken, however large.
const stdinRoom = 4 << 20

var (
	errStdinClosed = coppice.Errorf(coppice.EConflict, "the agent takes no more input")
	errStdinFull   = coppice.Errorf(coppice.EUnavailable, "the agent does not read its input").WithFix("try later")
)

// stdin writes to the agent without making anybody wait. Its methods are safe
// for concurrent use; run has an owner.
type stdin struct {
	w    *os.File
	wake chan struct{}

	// A terminal is not closed while output is read from it; the end of what
	// is typed is a key.
	end    []byte              // written instead of closing w
	shared bool                // w is closed by whoever reads from it
	encode func([]byte) []byte // how bytes are typed, when not as they are

	mu     sync.Mutex
	queue  []message
	size   int
	closed bool // nothing more is taken for the agent
	over   bool // nothing more is written at all
}

type message struct {
	data     []byte
	accepted chan error // gets one value
}

func newStdin(w *os.File) *stdin { return &stdin{w: w, wake: make(chan struct{}, 1)} }

// endOfFile is the key that ends what is typed: control-d.
const endOfFile = 4

// write queues the bytes. The channel gets nil when all of them were accepted,
// or why they were not.
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

// raw writes to what stands between us and the agent, which listens longer.
func (s *stdin) raw(data []byte) (<-chan error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, errStdinClosed
	}
	return s.add(data)
}

func (s *stdin) add(data []byte) (<-chan error, error) {
	if s.size > 0 && s.size+len(data) > stdinRoom {
		return nil, errStdinFull
	}
	m := message{data: data, accepted: make(chan error, 1)}
	s.queue = append(s.queue, m)
	s.size += len(data)
	s.notify()
	return m.accepted, nil
}

// close closes the agent's stdin behind what is queued. It tells whether it was
// open.
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

// abort closes it at once; what is queued fails.
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
				err = refused(err)
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

// fail notes that nobody reads any more.
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
	s.queue[0] = message{} // lets go of the bytes
	s.queue = s.queue[1:]
	return m, true, false
}

// refused names the two ordinary ways in which a write fails.
func refused(err error) error {
	if errors.Is(err, fs.ErrClosed) || errors.Is(err, os.ErrClosed) {
		return errStdinClosed
	}
	return coppice.Errorf(coppice.EConflict, "the agent closed its input: %w", err)
}
