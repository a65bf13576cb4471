// Command probe is the agent that the benchmarks run: it reports over a socket
// when it began, waits until it is let go, and leaves one new file behind.
// Without a socket it only leaves the file. With BENCH_BEAT, a span of time, it
// says every so often what time it is, while it waits. With BENCH_BEATS it says so
// up to that many times and ends by itself: how often follows from BENCH_SEED and
// the task. Then it also removes the file of a task long before it. With
// BENCH_CHANGE, a number of files, it changes one of those instead of leaving a
// new one, so that a repository does not grow with its tasks.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
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
		beat(gone, 0)
	} else if most, err := strconv.Atoi(os.Getenv("BENCH_BEATS")); err == nil && most > 0 {
		beat(nil, 1+chosen(os.Getenv("BENCH_SEED")+task)%most)
		if err := removeOld(task); err != nil {
			return err
		}
	}
	name := task + ".txt"
	if files, err := strconv.Atoi(os.Getenv("BENCH_CHANGE")); err == nil && files > 0 {
		n, err := numberOf(task)
		if err != nil {
			return err
		}
		name = fmt.Sprintf("dir%02d/file%05d.txt", n%files/50, n%files)
	}
	return os.WriteFile(name, []byte(task+"\n"), 0o644)
}

// numberOf is the number of a task among its project's.
func numberOf(task string) (int, error) {
	_, text, _ := strings.Cut(task, "-")
	return strconv.Atoi(text)
}

// chosen is a number that follows from a text.
func chosen(text string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // which never fails
	return int(h.Sum32())
}

// removeOld removes the file of the task that came a hundred before, so that there
// are never many.
func removeOld(task string) error {
	n, err := numberOf(task)
	if err != nil {
		return err
	}
	prefix, _, _ := strings.Cut(task, "-")
	if err := os.Remove(fmt.Sprintf("%s-%d.txt", prefix, n-100)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// beat says the time until it is let go, or so often; 0 means no bound.
func beat(gone <-chan struct{}, most int) {
	every, err := time.ParseDuration(os.Getenv("BENCH_BEAT"))
	if err != nil || every <= 0 {
		<-gone
		return
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for n := 0; most == 0 || n < most; n++ {
		select {
		case <-gone:
			return
		case <-t.C:
			fmt.Printf("beat %d\n", time.Now().UnixMicro())
		}
	}
}
