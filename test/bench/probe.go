package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"
)

// beginning is what a probe tells.
type beginning struct {
	at   time.Time
	pid  int
	task string
	conn net.Conn
}

// release lets the probe go on to its end.
func (b beginning) release() { b.conn.Close() }

// door is where probes report.
type door struct {
	socket string
	l      net.Listener
	came   chan beginning
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

func (l *lab) door() (*door, error) {
	d := &door{socket: filepath.Join(l.disk, l.name("door")), came: make(chan beginning, 256)}
	var err error
	if d.l, err = net.Listen("unix", d.socket); err != nil {
		return nil, err
	}
	d.wg.Go(d.accept)
	return d, nil
}

func (d *door) accept() {
	for {
		c, err := d.l.Accept()
		if err != nil {
			return // closed
		}
		d.mu.Lock()
		d.conns = append(d.conns, c)
		d.mu.Unlock()
		d.wg.Go(func() {
			line, err := bufio.NewReader(c).ReadString('\n')
			b := beginning{conn: c}
			var at int64
			if err == nil {
				_, err = fmt.Sscan(line, &at, &b.pid, &b.task)
			}
			if err == nil {
				b.at = time.Unix(0, at)
				d.came <- b
			}
		})
	}
}

// next waits for a probe.
func (d *door) next(ctx context.Context) (beginning, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, fmt.Errorf("no agent began within a minute"))
	defer cancel()
	select {
	case b := <-d.came:
		return b, nil
	case <-ctx.Done():
		return beginning{}, context.Cause(ctx)
	}
}

// close lets every probe go.
func (d *door) close() {
	d.l.Close()
	d.mu.Lock()
	for _, c := range d.conns {
		c.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
}
