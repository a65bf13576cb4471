package mail

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/notify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// smtp is a mail server that notes what it gets.
type smtp struct {
	net.Listener
	tls     *tls.Config
	replies map[string]string // instead of the usual ones, by the whole command or its first word
	offers  []string          // its extensions

	mu   sync.Mutex
	said []string // what clients sent, without the mail
	mail string
	wg   sync.WaitGroup
}

func start(t *testing.T, s *smtp, encrypted bool) *smtp {
	t.Helper()
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	s.tls = &tls.Config{Certificates: certificate.TLS.Certificates}
	certificate.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if s.Listener = ln; encrypted {
		s.Listener = tls.NewListener(ln, s.tls)
	}
	s.wg.Go(func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		s.Close()
		s.wg.Wait()
	})
	return s
}

func (s *smtp) serve(c net.Conn) {
	defer func() { c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	r, offers := bufio.NewReader(c), s.offers
	say := func(text string) { fmt.Fprint(c, text+"\r\n") }
	say("220 mail.test ESMTP")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.mu.Lock()
		s.said = append(s.said, line)
		s.mu.Unlock()
		word, _, _ := strings.Cut(line, " ")
		if reply := cmp.Or(s.replies[line], s.replies[word]); reply == "hang up" {
			return
		} else if reply != "" {
			say(reply)
			continue
		}
		switch word {
		case "EHLO":
			lines := append([]string{"mail.test"}, offers...)
			for i, l := range lines {
				mark := "-"
				if i == len(lines)-1 {
					mark = " "
				}
				say("250" + mark + l)
			}
		case "STARTTLS":
			say("220 go")
			c = tls.Server(c, s.tls)
			r = bufio.NewReader(c)
			offers = slices.DeleteFunc(slices.Clone(offers), func(o string) bool { return o == "STARTTLS" })
		case "AUTH":
			say("235 ok")
		case "DATA":
			say("354 go")
			var body strings.Builder
			for {
				l, err := r.ReadString('\n')
				if err != nil || l == ".\r\n" {
					break
				}
				body.WriteString(strings.TrimPrefix(l, "."))
			}
			s.mu.Lock()
			s.mail = body.String()
			s.mu.Unlock()
			say("250 queued")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (s *smtp) got() (said []string, mail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said), s.mail
}

var message = notify.Message{
	ID: "n-1-2", Priority: coppice.PriorityUrgent, Title: "app-4 asks: grün?\r\nBcc: eve@evil.test", Text: "Which one?\n.\nBcc: eve@evil.test\nžluťoučký " + strings.Repeat("long ", 300),
	Link: "http://127.0.0.1:4040/tasks/app-4", Answer: "http://127.0.0.1:4040/answer/x", Count: 1, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
}

func target(s *smtp, scheme string) notify.Target {
	return notify.Target{Name: "post", Token: "a-password-for-tests", Notifier: coppice.Notifier{
		Kind: "mail", URL: scheme + "://" + s.Addr().String(), From: "Coppice <coppice@example.org>", To: []string{"ada@example.org", "Bob <bob@example.org>"}, User: "coppice",
	}}
}

func insecure() *Sender { return &Sender{TLS: &tls.Config{InsecureSkipVerify: true}} } // the server's certificate is for another name

func TestBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scheme string
		offers []string
	}{"starttls": {"smtp", []string{"STARTTLS", "AUTH PLAIN LOGIN"}}, "tls": {"smtps", []string{"AUTH PLAIN"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, &smtp{offers: c.offers}, c.scheme == "smtps")
			to := target(s, c.scheme)
			if err := errors.Join(insecure().Check(to), insecure().Send(t.Context(), to, message)); err != nil {
				t.Fatal(err)
			}
			said, mail := s.got()
			all := strings.Join(said, "\n")
			login := "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00coppice\x00a-password-for-tests"))
			for _, line := range []string{login, "MAIL FROM:<coppice@example.org>", "RCPT TO:<ada@example.org>", "RCPT TO:<bob@example.org>"} {
				if !strings.Contains(all, line) {
					t.Errorf("%q is missing in\n%s", line, all)
				}
			}
			if name == "starttls" && strings.Index(all, "STARTTLS") > strings.Index(all, "AUTH") || strings.Contains(all, "eve@") {
				t.Errorf("%s", all)
			}
			checkMail(t, mail)
		})
	}
}

func checkMail(t *testing.T, text string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	head := func(name string) string {
		s, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get(name))
		if err != nil {
			t.Error(err)
		}
		return s
	}
	for name, want := range map[string]string{
		"Subject": "app-4 asks: grün? Bcc: eve@evil.test", "Message-Id": "<n-1-2@example.org>", "Date": "Sun, 01 Mar 2026 12:00:00 +0000", "Auto-Submitted": "auto-generated",
		"From": `"Coppice" <coppice@example.org>`, "To": `"Bob" <bob@example.org>`, "Importance": "high", "Content-Type": "text/plain; charset=UTF-8", "Bcc": "",
	} {
		if got := head(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(message.Text) + "\n\nAnswer: " + message.Answer + "\nOpen: " + message.Link
	if got := strings.TrimSpace(strings.ReplaceAll(string(body), "\r\n", "\n")); got != want {
		t.Errorf("the text is\n%q", got)
	}
	for line := range strings.Lines(text) {
		if len(line) > 1000 {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		replies map[string]string
		offers  []string
		class   coppice.Class
		text    string
	}{
		"login":       {map[string]string{"AUTH": "535 5.7.8 authentication failed"}, []string{"STARTTLS", "AUTH PLAIN"}, coppice.ClassAuth, "authentication failed"},
		"receiver":    {map[string]string{"RCPT": "550 5.1.1 no such user"}, []string{"STARTTLS", "AUTH PLAIN"}, coppice.ClassCapability, "no such user"},
		"busy":        {map[string]string{"MAIL": "451 4.3.0 try later"}, []string{"STARTTLS", "AUTH PLAIN"}, coppice.ClassEnvironment, "try later"},
		"not a login": {nil, []string{"STARTTLS"}, coppice.ClassCapability, "does not support SMTP AUTH"},
	} {
		s := start(t, &smtp{offers: c.offers, replies: c.replies}, false)
		var f *coppice.Failure
		err := insecure().Send(t.Context(), target(s, "smtp"), message)
		if !errors.As(err, &f) || f.Class != c.class || !strings.Contains(f.Text, c.text) || f.Fix == "" || strings.Contains(err.Error(), "for-tests") {
			t.Errorf("%s: %v", what, err)
		}
	}
	s := start(t, &smtp{offers: []string{"STARTTLS", "AUTH PLAIN"}}, false)
	var f *coppice.Failure
	if err := (&Sender{}).Send(t.Context(), target(s, "smtp"), message); !errors.As(err, &f) || f.Class != coppice.ClassEnvironment || !strings.Contains(f.Fix, "SSL_CERT_FILE") {
		t.Errorf("an unknown certificate: %v", err)
	}
	if said, _ := s.got(); slices.ContainsFunc(said, func(l string) bool { return strings.HasPrefix(l, "AUTH") }) {
		t.Errorf("the password was sent to an unknown server: %q", said)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	late := errors.New("it is late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, late)
	defer cancel()
	if err := insecure().Send(ctx, target(&smtp{Listener: silent}, "smtp"), message); !errors.Is(err, late) {
		t.Errorf("%v", err)
	}
}

// If a server refuses one of the receivers, the others get the mail, and get it one time.
func TestOneReceiverFails(t *testing.T) {
	t.Parallel()
	s := start(t, &smtp{offers: []string{"STARTTLS", "AUTH PLAIN"}, replies: map[string]string{"RCPT TO:<ada@example.org>": "451 4.2.1 the mailbox is busy"}}, false)
	n, to := insecure(), target(s, "smtp")
	for try := range 2 {
		var f *coppice.Failure
		if err := n.Send(t.Context(), to, message); !errors.As(err, &f) || f.Class != coppice.ClassEnvironment || !strings.Contains(f.Text, "busy") {
			t.Errorf("try %d: %v", try, err)
		}
	}
	said, mail := s.got()
	count := map[string]int{}
	for _, l := range said {
		count[l]++
	}
	if count["DATA"] != 1 || count["RCPT TO:<bob@example.org>"] != 1 || count["RCPT TO:<ada@example.org>"] != 2 {
		t.Errorf("%q", said)
	}
	checkMail(t, mail)
}

// A mail that the server has accepted is not sent again, however the conversation ends.
func TestAcceptedIsSent(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"RSET", "QUIT"} {
		for _, reply := range []string{"hang up", "421 4.3.2 closing"} {
			s := start(t, &smtp{offers: []string{"STARTTLS", "AUTH PLAIN"}, replies: map[string]string{word: reply}}, false)
			if err := insecure().Send(t.Context(), target(s, "smtp"), message); err != nil {
				t.Errorf("%s, %s: %v", word, reply, err)
			}
		}
	}
}

// A login is never sent without TLS to another machine, and plain text only to this one.
func TestPlainIsLocal(t *testing.T) {
	t.Parallel()
	s := start(t, &smtp{}, false)
	to := target(s, "smtp")
	to.User, to.Token = "", ""
	if err := (&Sender{}).Send(t.Context(), to, message); err != nil {
		t.Errorf("a server on this machine: %v", err)
	}
	for host, local := range map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true, "mail.example.org": false, "192.168.1.2": false} {
		if (server{host: host}).local() != local {
			t.Errorf("%s", host)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := coppice.Notifier{URL: "smtp://mail.test:587", From: "a@b.test", To: []string{"c@d.test"}}
	for field, change := range map[string]func(*coppice.Notifier){
		"url": func(n *coppice.Notifier) { n.URL = "https://mail.test" }, "from": func(n *coppice.Notifier) { n.From = "coppice" },
		"to": func(n *coppice.Notifier) { n.To = []string{"a@b.test", "c@d.test\r\nBcc: e@f.test"} }, "": func(*coppice.Notifier) {},
	} {
		n := good
		change(&n)
		err := (&Sender{}).Check(notify.Target{Notifier: n})
		if field == "" && err != nil || field != "" && coppice.Public(err).Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
