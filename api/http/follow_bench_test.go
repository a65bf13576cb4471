package http_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/api/apitest"
	"coppice/store"
	"coppice/store/sqlite"
)

// BenchmarkFollowers appends events, one commit each, while clients follow the
// log. An iteration is one committed event. The benchmark ends when every
// client has the last one.
func BenchmarkFollowers(b *testing.B) {
	for _, n := range []int{0, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			st, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "coppice.db")})
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			bundle := apitest.Start(b, st)
			p := bundle.Project("/src/app")
			host := strings.TrimPrefix(bundle.Server.URL(), "http://")
			var all sync.WaitGroup
			for range n {
				c, err := net.Dial("tcp", host)
				bundle.Must(err)
				defer c.Close()
				_, err = io.WriteString(c, "GET /api/v1/events HTTP/1.1\r\nHost: "+host+"\r\nAccept: text/event-stream\r\nAuthorization: Bearer "+apitest.Token+"\r\n\r\n")
				bundle.Must(err)
				r := bufio.NewReader(c)
				waitFor(b, r, ": alive")
				all.Go(func() { waitFor(b, r, `"reason":"last"`) })
			}
			append1 := func(reason string) {
				bundle.Update(func(tx store.Tx) error {
					return tx.Log.Append(&coppice.Event{At: time.Now(), Kind: coppice.EventTaskChanged, ProjectID: p.ID, Subject: "app", By: "person", Reason: reason})
				})
			}
			before := cpu(b)
			b.ResetTimer()
			slowest := time.Duration(0)
			for range b.N {
				begin := time.Now()
				append1("one of many")
				slowest = max(slowest, time.Since(begin))
			}
			append1("last")
			all.Wait()
			b.StopTimer()
			b.ReportMetric(float64(slowest.Microseconds())/1000, "slowest-commit-ms")
			b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

func waitFor(b *testing.B, r *bufio.Reader, text string) {
	for {
		l, err := r.ReadString('\n')
		if err != nil {
			b.Errorf("waiting for %s: %v", text, err)
			return
		}
		if strings.Contains(l, text) {
			return
		}
	}
}

// cpu is the processor time that the process has used, clients included.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
