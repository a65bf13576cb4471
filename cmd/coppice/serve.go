package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"coppice"
	apihttp "coppice/api/http"
	"coppice/cmd/coppice/server"
	"coppice/config"
	"coppice/internal/environ"
	"coppice/internal/process"
)

// serving says how the server is run.
type serving struct {
	open   bool                        // a browser opens the dashboard
	report func(url string, err error) // is called when it serves, or cannot; nil in the foreground
}

func (p *program) serve(ctx context.Context, cfg server.Config, how serving) error {
	// The program that reads the server's output might exit. That must not end
	// the server, especially not while it stops.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	process.CatchIgnored(syscall.SIGHUP)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	s, err := server.New(cfg)
	if err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		if how.report != nil {
			how.report("", err)
		}
		return err
	}
	fmt.Fprintf(p.env.Stdout, "coppice %s serves %s\nstate in %s\n", version, s.URL(), p.state)
	switch {
	case how.report != nil:
		how.report(s.URL(), nil) // the process that started it shows the link
	case p.env.Terminal || how.open:
		p.showLink(ctx, p.env.Stdout, how.open)
		fallthrough
	default:
		fmt.Fprintln(p.env.Stdout, "Press Ctrl-C to stop the server. Running agents continue.")
	}
	<-ctx.Done()
	stop(s, p.env.Stdout, signals, time.Second)
	return nil
}

// listenAddress returns where a server without --listen listens, and the source
// of the address as settings name it. A config.yaml that cannot be read is
// reported when the server starts.
func listenAddress(env []string) (addr, source string, err error) {
	if addr = environ.Get(env, "COPPICE_LISTEN"); addr != "" {
		return addr, "environment", checkListen("COPPICE_LISTEN", addr)
	}
	if port := environ.Get(env, "PORT"); port != "" {
		addr = net.JoinHostPort("127.0.0.1", port)
		return addr, "environment", checkListen("PORT", addr)
	}
	if u, src, err := config.UserOf(env); err == nil && u.Listen != "" {
		return u.Listen, src.Path, checkListen("listen in "+src.Path, u.Listen)
	}
	return server.DefaultListen, "default", nil
}

// checkListen says why an address cannot be used, and where it comes from.
func checkListen(from, addr string) error {
	_, err := apihttp.Loopback(addr)
	if err == nil {
		return nil
	}
	e := coppice.Public(err)
	return coppice.Errorf(e.Code, "%s: %s", from, e.Cause).WithFix("%s", e.Fix)
}

// stopper is a server that is being stopped.
type stopper interface {
	Stop()
	Waiting(context.Context) []string
	Hurry()
}

// stop stops the server and regularly prints what it waits for. The first
// signal started the stop. A second one ends what can be ended. Later ones
// change nothing: git is never killed while it writes.
func stop(s stopper, out io.Writer, signals <-chan os.Signal, every time.Duration) {
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Stop()
	}()
	report := func() {
		if list := s.Waiting(context.Background()); len(list) > 0 {
			fmt.Fprintf(out, "waiting for %s (%d s)\n", strings.Join(list, ", "), int(time.Since(began).Seconds()))
		}
	}
	report()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for count := 0; ; {
		select {
		case <-done:
			return
		case <-tick.C:
			report()
		case <-signals:
			if count++; count != 2 {
				continue
			}
			fmt.Fprintln(out, "Pushes to a remote are ended. Coppice does not interrupt git while it writes to your repository; the server stops when git has finished.")
			s.Hurry()
		}
	}
}
