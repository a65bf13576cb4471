package coppice

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// NotifyPolicy says who gets notifications: notify in the user's configuration.
type NotifyPolicy struct {
	Notifiers map[string]Notifier `json:"notifiers,omitempty" yaml:"notifiers"` // by name
	Routes    []NotifyRoute       `json:"routes,omitempty" yaml:"routes"`       // each that matches sends; see AllRoutes
	Address   string              `json:"address,omitempty" yaml:"address"`     // where people reach the links of messages; empty: only on this machine
	Pause     Duration            `json:"pause,omitempty" yaml:"pause"`         // the least time between two messages of a notifier; see MinPause
}

// DefaultNotifyPause is the least time between two messages of a notifier.
const DefaultNotifyPause = Duration(time.Minute)

// MinPause returns the least time between two messages of a notifier. A message that is
// urgent does not wait.
func (p NotifyPolicy) MinPause() Duration {
	if p.Pause == 0 {
		return DefaultNotifyPause
	}
	return p.Pause
}

// Notifier is a receiver of notifications. URL, To, From and User can have references to
// secrets. NotifyKinds says which kinds have which fields.
type Notifier struct {
	Kind    string   `json:"kind,omitempty" yaml:"kind"`       // one of NotifyKinds; empty: its name
	URL     string   `json:"url,omitempty" yaml:"url"`         // where it is; see docs/notifications.md
	Token   string   `json:"token,omitempty" yaml:"token"`     // the name of a secret
	To      []string `json:"to,omitempty" yaml:"to"`           // channels, chats, topics or addresses
	From    string   `json:"from,omitempty" yaml:"from"`       // of mail
	User    string   `json:"user,omitempty" yaml:"user"`       // of mail
	Run     string   `json:"run,omitempty" yaml:"run"`         // a shell command
	Timeout Duration `json:"timeout,omitempty" yaml:"timeout"` // of one message
}

// NotifyRoute sends notices to notifiers. A notice must match all fields that are set.
type NotifyRoute struct {
	To       []string   `json:"to" yaml:"to"`                       // names of notifiers
	Priority []Priority `json:"priority,omitempty" yaml:"priority"` // empty: urgent and action
	Projects []string   `json:"projects,omitempty" yaml:"projects"` // prefixes; empty: all
	Kinds    []string   `json:"kinds,omitempty" yaml:"kinds"`       // kinds of notice; empty: all
	Hours    string     `json:"hours,omitempty" yaml:"hours"`       // such as 08:00-18:00, in the server's time zone; notices of other hours wait, and urgent ones do not
}

// AllRoutes returns the routes. Without any, every notifier gets what is urgent and what
// waits for a person.
func (p NotifyPolicy) AllRoutes() []NotifyRoute {
	if len(p.Routes) > 0 || len(p.Notifiers) == 0 {
		return p.Routes
	}
	return []NotifyRoute{{To: slices.Sorted(maps.Keys(p.Notifiers))}}
}

// Priorities returns the priorities of the notices that the route sends.
func (r NotifyRoute) Priorities() []Priority {
	if len(r.Priority) == 0 {
		return []Priority{PriorityUrgent, PriorityAction}
	}
	return r.Priority
}

// NotifyKind says which fields the notifiers of a kind have.
type NotifyKind struct {
	Name    string
	Needs   [][]string // one of these sets of fields is required
	Allows  []string   // further fields
	Schemes []string   // of the address
	Secret  bool       // everybody who knows the address can send messages, so it is stored as a secret
	Repeats Repeats    // how a message that is sent again is recognized
}

// Repeats says how a receiver recognizes a message that it has got before.
type Repeats string

// The values of Repeats.
const (
	RepeatsByID   Repeats = "id"   // a field of the protocol has the key of the message
	RepeatsByText Repeats = "text" // people see the key, or its end, at the end of the message
)

var web = []string{"https", "http"}

// notifierFields are the fields that each notifier can have, besides kind.
var notifierFields = []string{"timeout"}

// NotifyKinds lists the kinds of notifier, in the order of docs/notifications.md.
var NotifyKinds = []NotifyKind{
	{Name: "desktop", Repeats: RepeatsByText, Needs: [][]string{{}}},
	{Name: "slack", Repeats: RepeatsByID, Needs: [][]string{{"url"}, {"token", "to"}}, Schemes: web, Secret: true},
	{Name: "discord", Repeats: RepeatsByText, Needs: [][]string{{"url"}}, Schemes: web, Secret: true},
	{Name: "telegram", Repeats: RepeatsByText, Needs: [][]string{{"token", "to"}}, Allows: []string{"url"}, Schemes: web},
	{Name: "teams", Repeats: RepeatsByID, Needs: [][]string{{"url"}}, Schemes: web, Secret: true},
	{Name: "ntfy", Repeats: RepeatsByID, Needs: [][]string{{"to"}}, Allows: []string{"url", "token", "user"}, Schemes: web},
	{Name: "mail", Repeats: RepeatsByID, Needs: [][]string{{"url", "from", "to"}}, Allows: []string{"user", "token"}, Schemes: []string{"smtps", "smtp"}},
	{Name: "webhook", Repeats: RepeatsByID, Needs: [][]string{{"url", "token"}}, Schemes: web},
	{Name: "program", Repeats: RepeatsByID, Needs: [][]string{{"run"}}},
	{Name: "shoutrrr", Repeats: RepeatsByText, Needs: [][]string{{"url"}}, Secret: true},
}

// KindOf returns the kind of a notifier with a name.
func (n Notifier) KindOf(name string) string { return cmp.Or(n.Kind, name) }

// fields returns the names of the fields that have a value, in the order of the type.
func (n Notifier) fields() (set []string) {
	for _, f := range []struct {
		name string
		set  bool
	}{{"url", n.URL != ""}, {"token", n.Token != ""}, {"to", len(n.To) > 0}, {"from", n.From != ""}, {"user", n.User != ""}, {"run", n.Run != ""}} {
		if f.set {
			set = append(set, f.name)
		}
	}
	return set
}

// Valid checks the fields of a notifier with a name. The error names the field.
func (n Notifier) Valid(name string) error {
	i := slices.IndexFunc(NotifyKinds, func(k NotifyKind) bool { return k.Name == n.KindOf(name) })
	if i < 0 {
		var names []string
		for _, k := range NotifyKinds {
			names = append(names, k.Name)
		}
		return Errorf(EInvalid, "%s is not a kind of notifier", Quote(n.KindOf(name))).WithFix("set kind to one of: %s", strings.Join(names, ", ")).WithField("kind")
	}
	k, set := NotifyKinds[i], n.fields()
	if err := k.complete(name, set); err != nil {
		return err
	}
	if (n.User == "") != (n.Token == "") && slices.Contains(k.Allows, "user") && (n.User != "" || k.Name == "mail") {
		return Errorf(EInvalid, "the notifier %s has only one of user and token", name).WithFix("add the other one, or remove both").WithField("user")
	}
	return k.address(name, n.URL)
}

// complete checks that the fields that are set are those of the kind.
func (k NotifyKind) complete(name string, set []string) error {
	var best []string // the set of fields of which the most are set
	for i, needs := range k.Needs {
		if i == 0 || common(needs, set) > common(best, set) {
			best = needs
		}
	}
	for _, f := range best {
		if !slices.Contains(set, f) {
			return Errorf(EInvalid, "the notifier %s needs %s", name, f).WithFix("a notifier of the kind %s has %s", k.Name, k.form()).WithField(f)
		}
	}
	for _, f := range set {
		if !slices.Contains(best, f) && !slices.Contains(k.Allows, f) {
			return Errorf(EInvalid, "the notifier %s cannot have %s", name, f).WithFix("remove it: a notifier of the kind %s has %s", k.Name, k.form()).WithField(f)
		}
	}
	return nil
}

func common(a, b []string) (n int) {
	for _, s := range a {
		if slices.Contains(b, s) {
			n++
		}
	}
	return n
}

// Fields returns the fields that a notifier of the kind can have, besides kind.
func (k NotifyKind) Fields() (all []string) {
	for _, f := range slices.Concat(slices.Concat(k.Needs...), k.Allows, notifierFields) {
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// form describes the fields of the kind.
func (k NotifyKind) form() string {
	var forms []string
	for _, needs := range k.Needs {
		if len(needs) > 0 {
			forms = append(forms, strings.Join(needs, " and "))
		}
	}
	text := cmp.Or(strings.Join(forms, ", or "), "only "+strings.Join(notifierFields, ", "))
	if len(k.Allows) > 0 {
		text += "; and if necessary " + strings.Join(k.Allows, ", ")
	}
	return text
}

// address checks the address of a notifier, as far as it is not in a secret.
func (k NotifyKind) address(name, text string) error {
	if text == "" {
		return nil
	}
	if strings.Contains(text, "${secret:") {
		return nil
	}
	if k.Secret {
		return Errorf(EInvalid, "the address of the notifier %s is a secret: everybody who knows it can send messages", name).
			WithFix("run `coppice secret set NAME`, and write ${secret:NAME}").WithField("url")
	}
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(k.Schemes, u.Scheme) || u.Host == "" || u.Fragment != "" {
		return Errorf(EInvalid, "%s is not a valid address for a notifier of the kind %s", Quote(text), k.Name).WithFix("write it as %s://host", k.Schemes[0]).WithField("url")
	}
	if u.User != nil {
		return Errorf(EInvalid, "the address of the notifier %s contains a user or a password", name).WithFix("write user and token instead; token is the name of a secret").WithField("url")
	}
	return nil
}

// Hours is a span of the day.
type Hours struct{ From, To time.Duration } // since midnight; To can be less than From

// ParseHours reads hours such as 08:00-18:00. Hours such as 22:00-06:00 include
// midnight.
func ParseHours(s string) (Hours, error) {
	from, to, _ := strings.Cut(s, "-")
	h := Hours{clock(from), clock(to)}
	if h.From < 0 || h.To < 0 || h.From == h.To || h.From == 24*time.Hour {
		return Hours{}, Errorf(EInvalid, "%s are not valid hours", Quote(s)).WithFix("write them as \"08:00-18:00\"")
	}
	return h, nil
}

// clock reads a time of the day such as 08:00; it is negative if it is not valid.
func clock(s string) time.Duration {
	if s == "24:00" {
		return 24 * time.Hour
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return -1
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
}

// Has reports whether a time is within the hours, by the time zone that it has.
func (h Hours) Has(at time.Time) bool {
	hour, minute, second := at.Clock()
	now := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	if h.From < h.To {
		return h.From <= now && now < h.To
	}
	return now >= h.From || now < h.To
}

// String returns the hours as they are written.
func (h Hours) String() string {
	text := func(d time.Duration) string {
		return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60)
	}
	return text(h.From) + "-" + text(h.To)
}
