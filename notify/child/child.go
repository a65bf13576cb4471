// Package child has the kinds of notifier whose libraries cannot be interrupted, use the
// environment of their process, and follow redirects: the desktop, and the services of
// shoutrrr. They run in a child process, which Coppice ends when the time is up.
package child

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"coppice"
	"coppice/internal/environ"
	"coppice/internal/process"
	"coppice/notify"
)

// Command is the argument with which the coppice program is started as the child.
const Command = "notify-child"

// maxReply limits what the child writes.
const maxReply = 64 << 10

// request is what the child reads from stdin, and reply is what it writes to stdout.
type request struct {
	Kind    string         `json:"kind"`
	URL     string         `json:"url,omitempty"`
	Message notify.Message `json:"message"`
}

type reply struct {
	Failure *coppice.Failure `json:"failure,omitempty"`
	Done    bool             `json:"done"`
}

// desktopEnv is what the desktop needs of the environment.
var desktopEnv = environ.Allowed{"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CURRENT_DESKTOP"}

// Sender sends messages of one kind by a child process.
type Sender struct {
	Kind    string   // desktop or shoutrrr
	Argv    []string // starts the child
	Environ []string // Coppice's own environment
}

var _ notify.Sender = Sender{}

// Senders returns the senders of this package, by kind. self is the coppice program.
func Senders(self string, env []string) map[string]notify.Sender {
	argv := []string{self, Command}
	return map[string]notify.Sender{"desktop": Sender{"desktop", argv, env}, "shoutrrr": Sender{"shoutrrr", argv, env}}
}

// Check implements notify.Sender.
func (s Sender) Check(t notify.Target) error {
	if s.Kind != "shoutrrr" {
		return nil
	}
	u, err := url.Parse(t.URL)
	if err != nil || u.Scheme == "" {
		return coppice.Errorf(coppice.EInvalid, "the address is not one of shoutrrr").WithFix("write it as service://…; see docs/notifications.md").WithField("url")
	}
	service, _ := schemeOf(u)
	if kind := ownKinds[service]; kind != "" {
		return coppice.Errorf(coppice.EInvalid, "Coppice itself sends to %s", service).WithFix("use kind: %s", kind).WithField("url")
	}
	if serviceOf(service) == nil {
		return coppice.Errorf(coppice.EInvalid, "shoutrrr has no service %s", coppice.Quote(service)).WithFix("see docs/notifications.md for the services").WithField("url")
	}
	return nil
}

// Send implements notify.Sender.
func (s Sender) Send(ctx context.Context, t notify.Target, m notify.Message) error {
	out := &limited{}
	c := process.Command{
		Argv: s.Argv, Dir: "/", Env: environ.Workspace.And(desktopEnv).Pick(s.Environ),
		Stdin: bytes.NewReader(coppice.Raw(request{s.Kind, t.URL, m.Clean()})), Stdout: out,
	}
	state, err := c.Run(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return coppice.Failf(coppice.ClassEnvironment, "the process that sends the message cannot be started: "+err.Error(), "see the server's log")
	}
	var r reply
	if json.Unmarshal(out.Bytes(), &r) != nil || !r.Done && r.Failure == nil {
		return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the process that sends the message ended with %s", state), "see the server's log")
	}
	if r.Failure != nil {
		r.Failure.Text, r.Failure.Fix = hide(r.Failure.Text, t.URL), hide(r.Failure.Fix, t.URL)
		return r.Failure
	}
	return nil
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:max(0, min(len(p), maxReply-l.Len()))])
	return len(p), nil
}

// leastSecret is the length from which a part of an address is hidden.
const leastSecret = 5

// hide hides an address in a text, and the parts of it that can be secrets. The errors of
// shoutrrr contain them.
func hide(text, address string) string {
	if address == "" {
		return text
	}
	text = strings.ReplaceAll(text, address, "…")
	_, rest, _ := strings.Cut(address, "://")
	parts := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("/@:?&=#,", r) })
	for _, p := range parts {
		raw, err := url.QueryUnescape(p)
		if err != nil {
			raw = p
		}
		for _, secret := range []string{p, raw, url.QueryEscape(raw), url.PathEscape(raw)} {
			if len(secret) >= leastSecret {
				text = strings.ReplaceAll(text, secret, "…")
			}
		}
	}
	return text
}

// Main is the child: it sends the message that it reads.
func Main(in io.Reader, out io.Writer) int {
	var r request
	if err := json.NewDecoder(io.LimitReader(in, 1<<20)).Decode(&r); err != nil {
		return 2
	}
	os.Stdout = os.Stderr // libraries write to it, and out is only for the reply
	var err error
	switch r.Kind {
	case "desktop":
		err = desktop(r.Message)
	case "shoutrrr":
		err = send(r.URL, r.Message)
	default:
		return 2
	}
	answer := reply{Done: err == nil}
	if err != nil {
		answer.Failure = asFailure(err)
	}
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		return 1
	}
	return 0
}
