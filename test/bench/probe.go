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

// beginning is a probe's report that it began.
type beginning struct {
	at   time.Time
	pid  int
	task string
	conn net.Conn
}

// release lets the probe end.
func (b beginning) release() { b.conn.Close() }

// listener receives the reports of probes.
type listener struct {
	socket string
	l      net.Listener
	came   chan beginning
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

func (l *lab) listenForProbes() (*listener, error) {
	d := &listener{socket: filepath.Join(l.disk, l.name("probes")), came: make(chan beginning, 256)}
	var err error
	if d.l, err = net.Listen("unix", d.socket); err != nil {
		return nil, err
	}
	d.wg.Go(d.accept)
	return d, nil
}

func (d *listener) accept() {
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
func (d *listener) next(ctx context.Context) (beginning, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, fmt.Errorf("no agent began within a minute"))
	defer cancel()
	select {
	case b := <-d.came:
		return b, nil
	case <-ctx.Done():
		return beginning{}, context.Cause(ctx)
	}
}

// close releases every probe.
func (d *listener) close() {
	d.l.Close()
	d.mu.Lock()
	for _, c := range d.conns {
		c.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
}
