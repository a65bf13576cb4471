// Command probe is the agent that the benchmarks run: it tells over a socket
// when it began, waits until it is let go, and leaves one new file behind.
// Without a socket it only leaves the file.
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
		_, _ = bufio.NewReader(c).ReadByte()
	}
	return os.WriteFile(task+".txt", []byte(task+"\n"), 0o644)
}
