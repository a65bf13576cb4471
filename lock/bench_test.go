package lock

import (
	"fmt"
	"testing"

	"coppice"
)

// crowd returns a table in which 1,000 sessions hold a file each, and 1,000 wait
// for the same one, or for different ones.
func crowd(same bool) *machine {
	k := &machine{model: model{now: start}}
	ask := func(s int64, n string) {
		k.next++
		k.Request(coppice.LockRequest{ID: k.next, SessionID: s, Names: []string{n}, TTL: coppice.Duration(coppice.LockTTL), Until: k.now.Add(coppice.LockWait)}, k.now)
	}
	for s := range int64(1000) {
		ask(s, fmt.Sprint("dir/", s))
	}
	for s := range int64(1000) {
		n := s
		if same {
			n = 0
		}
		ask(1000+s, fmt.Sprint("dir/", n))
	}
	return k
}

// BenchmarkGrant measures a turn that grants nothing, and a free request, in a full
// table.
func BenchmarkGrant(b *testing.B) {
	for _, same := range []bool{true, false} {
		k := crowd(same)
		b.Run(fmt.Sprint("grant/same=", same), func(b *testing.B) {
			for b.Loop() {
				k.Grant(k.now)
			}
		})
		b.Run(fmt.Sprint("request/same=", same), func(b *testing.B) {
			for b.Loop() {
				t := k.Clone()
				t.Request(coppice.LockRequest{SessionID: 5, Names: []string{"free"}}, k.now)
			}
		})
	}
}
