// Command probe is the agent that the benchmarks run: it tells over a socket
// when it began, waits until it is let go, and leaves one new file behind.
// Without a socket it only leaves the file. With BENCH_BEAT, a span of time, it
// says every so often what time it is, while it waits.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"time"
)

func main() {
	began := time.Now()
	if err := run(began); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(began time.Time) error {
	task := os.Getenv("COPPICE_TASK")
	if socket := os.Getenv("BENCH_SOCKET"); socket != "" {
		c, err := net.Dial("unix", socket)
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "%d %d %s\n", began.UnixNano(), os.Getpid(), task); err != nil {
			return err
		}
		// Its end lets go as well, so that no probe outlives its benchmark.
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = bufio.NewReader(c).ReadByte()
		}()
		beat(gone)
	}
	return os.WriteFile(task+".txt", []byte(task+"\n"), 0o644)
}

// beat says the time until it is let go.
func beat(gone <-chan struct{}) {
	every, err := time.ParseDuration(os.Getenv("BENCH_BEAT"))
	if err != nil || every <= 0 {
		<-gone
		return
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-gone:
			return
		case <-t.C:
			fmt.Printf("beat %d\n", time.Now().UnixMicro())
		}
	}
}
