// Package post has the kinds of notifier that get messages by HTTP: chat services, ntfy
// and webhooks. Each kind is an entry of services: it says which addresses and receivers
// are valid, and builds the request. One Sender sends for all.
package post

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/notify"
)

// Config configures the senders.
type Config struct {
	Client *notify.Client
	// Slack is the address of Slack's API; empty means that of slack.com. Tests use an
	// emulator.
	Slack string
}

// service is a kind of notifier.
type service struct {
	public bool // its address can be without TLS: it is not a secret
	to     func(to string) bool
	toHelp string // what a receiver looks like
	// request builds the request for a receiver; to is empty for a kind without
	// receivers.
	request func(c Config, t notify.Target, m notify.Message, to string) (notify.Request, error)
	explain func(now time.Time) func(status int, body []byte) *coppice.Failure
}

var services = map[string]service{
	"slack":    {to: matches(80, `^[#@]?[A-Za-z0-9][A-Za-z0-9._-]*$`), toHelp: "the id or the name of a channel, such as C0123456789 or #builds", request: slack, explain: slackFailure},
	"discord":  {request: discord},
	"telegram": {public: true, to: matches(32, `^(-?[0-9]+|@[A-Za-z][A-Za-z0-9_]+)$`), toHelp: "the id of a chat, such as -1001234567890, or @channel", request: telegram, explain: telegramFailure},
	"teams":    {request: teams},
	"ntfy":     {public: true, to: matches(64, `^[-_A-Za-z0-9]+$`), toHelp: "a topic of up to 64 letters, digits, dashes and underscores", request: ntfy},
	"webhook":  {public: true, request: webhook},
}

// matches accepts texts of a pattern, up to a length. The pattern is compiled when it is
// needed: this package is in every process of Coppice.
func matches(most int, pattern string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(s string) bool { return len(s) <= most && compiled().MatchString(s) }
}

// Senders returns the senders of this package, by kind.
func Senders(c Config) map[string]notify.Sender {
	all := map[string]notify.Sender{}
	for kind, s := range services {
		all[kind] = &sender{cfg: c, service: s}
	}
	return all
}

type sender struct {
	cfg Config
	service
	receipts notify.Receipts
}

// Check implements notify.Sender.
func (s *sender) Check(t notify.Target) error {
	if err := checkToken(t.Token); err != nil {
		return err
	}
	for _, to := range t.To {
		if s.to != nil && !s.to(to) {
			return coppice.Errorf(coppice.EInvalid, "%s is not a valid receiver", coppice.Quote(to)).WithFix("write %s", s.toHelp).WithField("to")
		}
	}
	if t.URL == "" {
		return nil
	}
	u, err := url.Parse(t.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return coppice.Errorf(coppice.EInvalid, "the address is not valid").WithFix("write it as https://host/path; if it is in a secret, store the secret again").WithField("url")
	}
	if u.Scheme == "http" && !s.public && !loopback(u.Hostname()) {
		return coppice.Errorf(coppice.EInvalid, "the address is a secret, and http:// would show it to the network").WithFix("use https://").WithField("url")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r > '~' }) {
		return coppice.Errorf(coppice.EInvalid, "the token has a character that no token has").WithFix("store it again with `coppice secret set`").WithField("token")
	}
	return nil
}

// Send implements notify.Sender.
func (s *sender) Send(ctx context.Context, t notify.Target, m notify.Message) error {
	m = m.Clean()
	if s.to == nil || len(t.To) == 0 {
		return s.send(ctx, t, m, "")
	}
	return s.receipts.Each(t, m, func(to string) error { return s.send(ctx, t, m, to) })
}

func (s *sender) send(ctx context.Context, t notify.Target, m notify.Message, to string) error {
	r, err := s.request(s.cfg, t, m, to)
	if err != nil {
		return err
	}
	r.Secrets = append(r.Secrets, t.Token)
	var explain func(int, []byte) *coppice.Failure
	if s.explain != nil {
		explain = s.explain(s.cfg.Client.Now())
	}
	_, err = s.cfg.Client.Post(ctx, r, explain)
	return err
}

// object is a JSON object; its keys are sent in alphabetical order.
type object = map[string]any

// asJSON returns a request with a JSON body.
func asJSON(address string, body object) notify.Request {
	return notify.Request{URL: address, Header: http.Header{"Content-Type": {"application/json"}}, Body: coppice.Raw(body)}
}

// decode reads the answer of a service into v. An answer of another form leaves v as it
// is.
func decode[T any](body []byte) (v T) {
	_ = json.Unmarshal(body, &v)
	return v
}

// priorities maps the priorities to the values of a service.
type priorities[T any] struct{ urgent, action, warning, info T }

func (p priorities[T]) of(m notify.Message) T {
	switch m.Priority {
	case coppice.PriorityUrgent:
		return p.urgent
	case coppice.PriorityAction:
		return p.action
	case coppice.PriorityWarning:
		return p.warning
	}
	return p.info
}
