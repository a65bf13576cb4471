// Package mail sends messages by mail.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/mail"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"coppice"
	"coppice/notify"
)

// The limits of a mail. Servers accept more, and people do not read it.
var (
	subject = notify.Limit{Most: 200, Unit: notify.Runes}
	text    = notify.Limit{Most: 64 << 10, Unit: notify.Bytes}
)

// dialTime is how long a connection can take, if the message has more time.
const dialTime = 15 * time.Second

// Sender sends mail by SMTP: with TLS from the start to an address with smtps, and with
// STARTTLS to one with smtp. Only a server on this machine can be without TLS.
type Sender struct {
	TLS      *tls.Config // nil means the certificates of the system
	receipts notify.Receipts
}

var _ notify.Sender = &Sender{}

// Check implements notify.Sender.
func (*Sender) Check(t notify.Target) error {
	if _, err := serverOf(t.URL); err != nil {
		return err
	}
	for _, a := range append([]string{t.From}, t.To...) {
		if _, err := mail.ParseAddress(a); err != nil || coppice.LineProblem(a) != "" {
			field := "to"
			if a == t.From {
				field = "from"
			}
			return coppice.Errorf(coppice.EInvalid, "%s is not a valid mail address", coppice.Quote(a)).WithFix("write it as ada@example.org, or Ada <ada@example.org>").WithField(field)
		}
	}
	return nil
}

type server struct {
	host string
	port int
	tls  bool // from the start
}

func serverOf(address string) (s server, err error) {
	u, err := url.Parse(address)
	bad := coppice.Errorf(coppice.EInvalid, "the address is not one of a mail server").WithFix("write it as smtps://mail.example.org, or smtp://mail.example.org:587").WithField("url")
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return s, bad
	}
	s = server{u.Hostname(), 587, u.Scheme == "smtps"}
	if s.tls {
		s.port = 465
	}
	if p := u.Port(); p != "" {
		if s.port, err = strconv.Atoi(p); err != nil {
			return s, bad
		}
	}
	return s, nil
}

func (s server) local() bool {
	ip := net.ParseIP(s.host)
	return s.host == "localhost" || ip != nil && ip.IsLoopback()
}

// Send implements notify.Sender. Each receiver gets a separate mail: a server can refuse one
// of them, and then nobody would get a common one.
func (n *Sender) Send(ctx context.Context, t notify.Target, m notify.Message) error {
	at, err := serverOf(t.URL)
	if err != nil {
		return err
	}
	m = m.Clean()
	return n.receipts.Each(t, m, func(to string) error { return n.send(ctx, at, t, m, to) })
}

func (n *Sender) send(ctx context.Context, at server, t notify.Target, m notify.Message, to string) error {
	msg, err := letter(t, m, to)
	if err != nil {
		return coppice.Failf(coppice.ClassCapability, "the mail cannot be written: "+err.Error(), "check from and to of the notifier")
	}
	dial := &dialer{}
	defer dial.close()
	client, err := n.client(ctx, at, t, dial)
	if err != nil {
		return coppice.Failf(coppice.ClassCapability, "the mail server cannot be used: "+err.Error(), "check the url of the notifier")
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil && !msg.IsDelivered() { // what follows the mail does not matter
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return failure(at, err)
	}
	return nil
}

// dialer connects. The library does not end a conversation when ctx ends, and leaves some
// connections open after a failure, so the dialer closes the connection then.
type dialer struct {
	conn net.Conn
	stop func() bool
}

func (d *dialer) close() {
	if d.conn != nil {
		d.stop()
		d.conn.Close()
	}
}

func (d *dialer) dial(ctx context.Context, config *tls.Config) gomail.DialContextFunc {
	return func(short context.Context, network, address string) (c net.Conn, err error) {
		if config != nil {
			c, err = (&tls.Dialer{Config: config}).DialContext(short, network, address)
		} else {
			c, err = (&net.Dialer{}).DialContext(short, network, address)
		}
		if err == nil {
			d.conn, d.stop = c, context.AfterFunc(ctx, func() { c.Close() })
		}
		return c, err
	}
}

// logins are the ways to log in, the safest first. The library refuses to send a password
// without TLS, except to this machine.
var logins = []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, gomail.SMTPAuthCramMD5, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin}

func (n *Sender) client(ctx context.Context, to server, t notify.Target, d *dialer) (*gomail.Client, error) {
	policy := gomail.TLSMandatory
	if to.local() {
		policy = gomail.TLSOpportunistic
	}
	config := n.TLS
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config = config.Clone()
	config.ServerName = to.host
	options := []gomail.Option{gomail.WithPort(to.port), gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(config), gomail.WithTimeout(dialTime)}
	if to.tls {
		options = append(options, gomail.WithSSL(), gomail.WithDialContextFunc(d.dial(ctx, config)))
	} else {
		options = append(options, gomail.WithDialContextFunc(d.dial(ctx, nil)))
	}
	if t.User != "" {
		options = append(options, gomail.WithOpportunisticSMTPAuth(logins...), gomail.WithUsername(t.User), gomail.WithPassword(t.Token))
	}
	return gomail.NewClient(to.host, options...)
}

var importance = map[coppice.Priority]gomail.Importance{coppice.PriorityUrgent: gomail.ImportanceHigh, coppice.PriorityInfo: gomail.ImportanceLow}

// letter returns the mail. A repetition has the same Message-ID and the same date.
func letter(t notify.Target, m notify.Message, to string) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := msg.From(t.From); err != nil {
		return nil, err
	}
	if err := msg.To(to); err != nil {
		return nil, err
	}
	msg.Subject(subject.Fit(m.Title, nil))
	msg.SetMessageIDWithValue(m.ID + "@" + domainOf(t.From))
	msg.SetDateWithValue(m.At)
	msg.SetImportance(importance[m.Priority])
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no program answers it
	msg.SetBodyString(gomail.TypeTextPlain, m.Plain(text, nil)+"\n")
	return msg, nil
}

func domainOf(from string) string {
	a, err := mail.ParseAddress(from)
	if err != nil {
		return "localhost"
	}
	return a.Address[strings.LastIndexByte(a.Address, '@')+1:]
}

// failure returns the failure that an error of the library is.
func failure(to server, err error) error {
	text := to.host + ": " + coppice.FirstLine(err.Error())
	var reply *textproto.Error
	var sent *gomail.SendError
	code := 0
	switch {
	case errors.As(err, &reply):
		code = reply.Code
	case errors.As(err, &sent):
		code = sent.ErrorCode()
	}
	var network net.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case code >= 530 && code <= 538:
		return coppice.Failf(coppice.ClassAuth, text, "check user and token of the notifier; some services need a separate password for programs")
	case errors.As(err, &certificate):
		return coppice.Failf(coppice.ClassEnvironment, text, "check the host in url. For a private certificate, set SSL_CERT_FILE")
	case code >= 500:
		return coppice.Failf(coppice.ClassCapability, text, "check from and to of the notifier")
	case code >= 400 || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return coppice.Failf(coppice.ClassEnvironment, text, "check the network, and the host and the port in url")
	}
	return coppice.Failf(coppice.ClassCapability, text, "check the url of the notifier: smtps:// for TLS from the start, smtp:// for STARTTLS, and a login that the server knows")
}
