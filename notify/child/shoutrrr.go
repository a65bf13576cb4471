package child

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/googlechat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/lark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/mattermost"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/rocketchat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/signal"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/wecom"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/zulip"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/opsgenie"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/pagerduty"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/bark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/gotify"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ifttt"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/join"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushbullet"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushover"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/specialized/generic"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/specialized/notifiarr"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"coppice"
	"coppice/notify"
)

// serviceOf returns a service of shoutrrr by the scheme of its address; nil if there is
// none. The router of shoutrrr has all, and each package costs every process of Coppice
// memory when it starts: those that Coppice has itself are in ownKinds.
func serviceOf(scheme string) types.Service {
	switch scheme {
	case "bark":
		return &bark.Service{}
	case "generic":
		return &generic.Service{}
	case "googlechat", "hangouts":
		return &googlechat.Service{}
	case "gotify":
		return &gotify.Service{}
	case "ifttt":
		return &ifttt.Service{}
	case "join":
		return &join.Service{}
	case "lark":
		return &lark.Service{}
	case "matrix":
		return &matrix.Service{}
	case "mattermost":
		return &mattermost.Service{}
	case "notifiarr":
		return &notifiarr.Service{}
	case "opsgenie":
		return &opsgenie.Service{}
	case "pagerduty":
		return &pagerduty.Service{}
	case "pushbullet":
		return &pushbullet.Service{}
	case "pushover":
		return &pushover.Service{}
	case "rocketchat":
		return &rocketchat.Service{}
	case "signal":
		return &signal.Service{}
	case "wecom":
		return &wecom.Service{}
	case "zulip":
		return &zulip.Service{}
	}
	return nil
}

// ownKinds are the services of shoutrrr for which Coppice has a kind of notifier.
var ownKinds = map[string]string{"discord": "discord", "ntfy": "ntfy", "slack": "slack", "smtp": "mail", "teams": "teams", "telegram": "telegram"}

// schemeOf returns the service of an address, and whether the address is that of the
// service itself, as in generic+https://host.
func schemeOf(u *url.URL) (service string, custom bool) {
	service, _, custom = strings.Cut(strings.ToLower(u.Scheme), "+")
	return service, custom
}

// open returns the service of an address, ready to send.
func open(address string) (types.Service, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	scheme, custom := schemeOf(u)
	service := serviceOf(scheme)
	if service == nil {
		return nil, errors.New("there is no service " + coppice.Quote(scheme))
	}
	if custom {
		converter, ok := service.(types.CustomURLService)
		if !ok {
			return nil, errors.New(scheme + " has no addresses of this form")
		}
		if u, err = converter.GetConfigURLFromCustom(u); err != nil {
			return nil, err
		}
	}
	return service, service.Initialize(u, log.Default())
}

// shoutrrrText is the longest message: what most of its services accept.
var shoutrrrText = notify.Limit{Most: 1900, Unit: notify.UTF16}

// send sends a message by a service of shoutrrr. Not every service has a title, so the
// title is the first line.
func send(address string, m notify.Message) error {
	seen := &answers{next: http.DefaultTransport}
	http.DefaultTransport = seen // the clients of shoutrrr use it; this process sends only this message
	http.DefaultClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	log.SetOutput(io.Discard)
	service, err := open(address)
	if err != nil {
		return coppice.Failf(coppice.ClassCapability, "shoutrrr does not accept the address: "+coppice.FirstLine(err.Error()), "check the address; its form is in the documentation of shoutrrr")
	}
	title := strings.TrimSpace(notify.Limit{Most: 200, Unit: notify.UTF16}.Fit(m.Title, shoutrrrEscape))
	rest := notify.Limit{Most: shoutrrrText.Most - 200 - 2, Unit: notify.UTF16}
	err = service.Send(strings.TrimSpace(title+"\n\n"+m.Marked(rest, shoutrrrEscape)), &types.Params{})
	if refused := seen.failure(); refused != nil { // also if the library did not notice it
		return refused
	}
	if err != nil {
		return coppice.Failf(coppice.ClassEnvironment, "shoutrrr cannot send the message: "+coppice.FirstLine(err.Error()), "check the address of the notifier, and the network")
	}
	return nil
}

// shoutrrrEscape puts an invisible character after what starts a mention or a link of the
// chat services. Their markup differs, so it is not escaped otherwise.
func shoutrrrEscape(r rune) string {
	if strings.ContainsRune("@<[]", r) {
		return string(r) + "\u2060"
	}
	return string(r)
}

// answers notes the last answer that is not a success.
type answers struct {
	next http.RoundTripper

	mu      sync.Mutex
	refused *coppice.Failure
}

// RoundTrip implements http.RoundTripper. A redirect is an error: the message is only for
// the address of the notifier.
func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := a.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, 1<<20), resp.Body}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = refusal(r.URL.Host, resp)
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		resp.Body.Close()
		return nil, errors.New("redirect")
	}
	return resp, nil
}

func (a *answers) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused == nil {
		return nil
	}
	return a.refused
}

func refusal(host string, resp *http.Response) *coppice.Failure {
	text := fmt.Sprintf("%s answers with the status %d", host, resp.StatusCode)
	switch s := resp.StatusCode; {
	case s < 300:
		return nil
	case s < 400:
		return coppice.Failf(coppice.ClassCapability, host+" answers with a redirect, and a message is sent only to the address of the notifier", "write the new address")
	case s == http.StatusTooManyRequests:
		f := coppice.Failf(coppice.ClassRateLimit, host+" limits the number of messages", "")
		wait, err := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
		if err != nil {
			wait = 60
		}
		f.RetryAt = notify.After(time.Now(), wait)
		return f
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return coppice.Failf(coppice.ClassAuth, text, "check the address of the notifier, and store it again with `coppice secret set`")
	case s >= 500:
		return coppice.Failf(coppice.ClassEnvironment, text, "see the status page of the service")
	}
	return coppice.Failf(coppice.ClassCapability, text, "check the address of the notifier")
}

func asFailure(err error) *coppice.Failure {
	var f *coppice.Failure
	if errors.As(err, &f) {
		return f
	}
	return coppice.Failf(coppice.ClassEnvironment, coppice.FirstLine(err.Error()), "see the server's log")
}
