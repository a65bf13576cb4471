package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"coppice/host"
	"coppice/internal/browser"
)

// runBrowser is `coppice browser`, the tool server that gives a session a
// browser. Agents start it.
func runBrowser(args []string) int {
	// The signal is caught, not ignored: a child process inherits ignored
	// signals. A write fails when the agent no longer reads.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	f := flag.NewFlagSet("browser", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	dir := f.String("session", "", "the session's directory")
	chromium := f.String("chromium", "", "the browser's path")
	if err := f.Parse(args); err != nil || *dir == "" || *chromium == "" || f.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "coppice browser is started by agents: coppice browser --session DIR --chromium PATH -- SERVER...")
		return 2
	}
	code, err := browser.Run(ctx, browser.Config{
		Found:    browser.Found{Chromium: *chromium, Server: f.Args()},
		Profiles: filepath.Join(*dir, "browser"),
		Environ:  os.Environ(), Root: os.Geteuid() == 0,
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Keep: func(ctx context.Context, picture []byte) error {
			c, err := host.Dial(ctx, *dir)
			if err != nil {
				return err
			}
			defer c.Close()
			return c.Keep(ctx, picture)
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "coppice browser:", err)
		return 1
	}
	return code
}
