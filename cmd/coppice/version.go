package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"
)

// versionShown is what `coppice version` prints.
type versionShown struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Server   string `json:"server,omitempty"` // the version of the running server
}

func (p *program) versionCommand() *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "version", Short: "Show the version of this program and of the running server",
		Long:    "Show the version of this program, and of the server if one runs. If they differ, restart the server: running agents continue.",
		Example: "  coppice version\n  coppice version --json",
		Args:    cobra.NoArgs,
	}, func(c *cobra.Command, _ []string, asJSON bool) error {
		v := versionShown{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Server: p.serverVersion(c.Context())}
		if asJSON {
			return p.printJSON(v)
		}
		out := p.out(false)
		fmt.Fprintf(out, "coppice %s (%s, %s)\n", v.Version, v.Go, v.Platform)
		switch v.Server {
		case "":
			fmt.Fprintln(out, "no server is running")
		case v.Version:
			fmt.Fprintln(out, "the server has the same version")
		default:
			fmt.Fprintf(out, "the server has the version %s; restart it to use this one\n", v.Server)
		}
		return nil
	})
}

// serverVersion returns the version of the running server, or "".
func (p *program) serverVersion(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, err := p.env.Client()
	if err != nil {
		return ""
	}
	defer c.Close()
	v, err := c.Version(ctx)
	if err != nil {
		return ""
	}
	return v.Version
}
