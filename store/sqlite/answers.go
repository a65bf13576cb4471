package sqlite

import (
	"database/sql"
	"sync"

	"coppice"
)

// Answers from largeAnswer bytes on are kept decoded, up to mostAnswers bytes.
const (
	largeAnswer = 2 << 10
	mostAnswers = 16 << 20
)

// decodedAnswers has the large answers that were read last, by their JSON. A flow reads
// the answers of all its steps for each plan, and decoding them takes most of that time.
// Nobody changes an answer that was read.
var decodedAnswers struct {
	mu   sync.Mutex
	now  map[string]*coppice.Answer
	old  map[string]*coppice.Answer // those before now was full
	size int                        // of now
}

func answerOf(u *unpacker, s sql.NullString) *coppice.Answer {
	if len(s.String) < largeAnswer {
		return unpackPtr[coppice.Answer](u, s)
	}
	d := &decodedAnswers
	d.mu.Lock()
	a := d.now[s.String]
	if a == nil {
		a = d.old[s.String]
	}
	d.mu.Unlock()
	if a != nil {
		return a
	}
	if a = unpackPtr[coppice.Answer](u, s); u.err != nil {
		return a
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.size += len(s.String); d.now == nil || d.size > mostAnswers/2 {
		d.old, d.now, d.size = d.now, map[string]*coppice.Answer{}, len(s.String)
	}
	d.now[s.String] = a
	return a
}
