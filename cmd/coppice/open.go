package main

import (
	"context"
	"os"
	"runtime"
	"time"

	"coppice"
	"coppice/internal/environ"
	"coppice/internal/process"
)

// openWait is how long the program that opens a browser can take to fail. Some of
// these programs run as long as the browser.
const openWait = 2 * time.Second

// open opens an address with the program that the desktop has for it.
func (p *program) open(ctx context.Context, address string) error {
	return openWith(ctx, runtime.GOOS, os.Environ(), address)
}

func openWith(ctx context.Context, system string, env []string, address string) error {
	name := "xdg-open"
	if system == "darwin" {
		name = "open"
	} else if environ.Get(env, "DISPLAY")+environ.Get(env, "WAYLAND_DISPLAY")+environ.Get(env, "BROWSER") == "" {
		return coppice.Errorf(coppice.EUnavailable, "no browser can be opened: this terminal has no desktop")
	}
	path, err := environ.LookPath(name, env)
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "no browser can be opened: %s is not installed", name)
	}
	cmd, err := process.Command{Argv: []string{name, address}, Path: path, Env: env, Detached: true}.Start()
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "no browser can be opened: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	late := time.NewTimer(openWait)
	defer late.Stop()
	select {
	case err = <-ended:
	case <-late.C: // the browser runs
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "no browser can be opened: %s: %w", name, err)
	}
	return nil
}
