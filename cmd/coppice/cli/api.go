package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api/client"
)

// apiMethods are the methods of the HTTP API.
var apiMethods = []string{"GET", "POST", "PATCH", "PUT", "DELETE"}

func (e *Env) apiCommand() *cobra.Command {
	var input string
	c := &cobra.Command{
		Use: "api METHOD PATH", Short: "Call the HTTP API and print the answer",
		Long: `Call the server's HTTP API with its token and print the JSON of the answer. The path
starts after /api/v1 and can have a query. docs/api.md describes the
calls. The body comes from --input, or from stdin with --input -.

The exit code is 0 for an answer with a status of 2xx, and 1 for any other: then the
problem is on stderr. Event streams are printed as they come.`,
		Example: "  coppice api GET /status\n  coppice api GET '/tasks?status=failed&limit=5'\n  echo '{\"note\":\"again\"}' | coppice api POST /tasks/app-4/retry --input -",
		Args:    args(2, 2, "a method and a path"),
	}
	c.Flags().StringVar(&input, "input", "", "a `file` with the JSON body; - is stdin")
	c.Flags().Bool("json", true, "print errors as JSON, too")
	c.ValidArgsFunction = func(_ *cobra.Command, given []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(given) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return apiMethods, cobra.ShellCompDirectiveNoFileComp
	}
	c.RunE = func(c *cobra.Command, given []string) error {
		method, path := strings.ToUpper(given[0]), strings.TrimPrefix(given[1], "/api/v1")
		if !slices.Contains(apiMethods, method) {
			return wrongUse(coppice.Quote(given[0])+" is not a method of the API", "use one of: "+strings.Join(apiMethods, ", "))
		}
		if !strings.HasPrefix(path, "/") {
			return wrongUse(coppice.Quote(given[1])+" is not a path", "start it with a slash, as in /status")
		}
		var body []byte
		if input != "" {
			b, err := e.readFile(input, maxTaskFile)
			if err != nil {
				return err
			}
			if body = b; !json.Valid(b) {
				return coppice.Errorf(coppice.EInvalid, "the body is not JSON").WithFix("write a JSON object to %s", input)
			}
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			return cl.Raw(ctx, method, path, body, e.rawJSON)
		})
	}
	return c
}

// rawJSON prints an answer. JSON is indented, and its characters that a terminal
// obeys are escaped.
func (e *Env) rawJSON(kind string, r io.Reader) error {
	if kind != "application/json" {
		return e.copyText(r)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return e.json(json.RawMessage(b))
}

// copyText copies a text as it comes. On a terminal it goes line by line, without
// the characters that the terminal obeys.
func (e *Env) copyText(r io.Reader) error {
	if !e.Terminal {
		_, err := io.Copy(e.Stdout, r)
		return err
	}
	lines := bufio.NewReader(r)
	for {
		text, err := lines.ReadString('\n')
		e.printf("%s", Clean(text))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
