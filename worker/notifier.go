package worker

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"coppice"
	"coppice/notify"
	"coppice/secret"
)

// notifyTime is how long a message can take, if the notifier does not say.
const notifyTime = 30 * time.Second

// Notifiers sends notifications. It resolves the secrets of the notifier and masks
// secrets in the texts.
type Notifiers struct {
	Kinds map[string]notify.Sender // by the name of a coppice.NotifyKind
	// Secret resolves a secret by its name, and makes sure that its value is masked.
	Secret func(ctx context.Context, name string) (string, error)
	Mask   func(string) string
	// Address is where people on this machine reach the server. Links use it if the
	// user's configuration has no other address.
	Address func() string
	// Answer returns the path of the page that answers a question until a time. It is
	// empty if the question is not open any more.
	Answer func(ctx context.Context, question int64, until time.Time) (string, error)
	Now    func() time.Time
}

// Send implements Notifier.
func (n *Notifiers) Send(ctx context.Context, s coppice.NotifySpec) (coppice.NotifyResult, error) {
	if err := n.send(ctx, s); err != nil {
		if ctx.Err() != nil {
			return coppice.NotifyResult{}, ctx.Err()
		}
		f := *failure(err)
		f.Text, f.Fix = n.Mask(f.Text), n.Mask(f.Fix)
		return coppice.NotifyResult{}, &f
	}
	return coppice.NotifyResult{}, nil
}

func (n *Notifiers) send(ctx context.Context, s coppice.NotifySpec) error {
	sender := n.Kinds[s.Notifier.KindOf(s.Name)]
	if sender == nil {
		return coppice.Failf(coppice.ClassCapability, coppice.Quote(s.Notifier.KindOf(s.Name))+" is not a kind of notifier", "check notify.notifiers in your configuration")
	}
	to, err := n.target(ctx, s)
	if err != nil {
		return refusal(coppice.ClassAuth, err)
	}
	if err := sender.Check(to); err != nil {
		return refusal(coppice.ClassCapability, err)
	}
	limit := cmp.Or(s.Notifier.Timeout.D(), notifyTime)
	late := coppice.Failf(coppice.ClassEnvironment, "the message was not accepted within "+limit.String(), "check the network, or set a longer timeout for the notifier")
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	m, err := n.message(ctx, s)
	if err != nil {
		return err
	}
	err = sender.Send(ctx, to, m)
	if err != nil && context.Cause(ctx) == late { //nolint:errorlint // the very error
		return late
	}
	return err
}

// refusal returns the failure that an error about a notifier's configuration is.
func refusal(class coppice.Class, err error) error {
	var e *coppice.Error
	if !errors.As(err, &e) {
		return err
	}
	text := e.Cause
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	return coppice.Failf(class, text, e.Fix)
}

// target returns the notifier with the values of its secrets.
func (n *Notifiers) target(ctx context.Context, s coppice.NotifySpec) (notify.Target, error) {
	t := notify.Target{Notifier: s.Notifier, Name: s.Name}
	t.Kind = s.Notifier.KindOf(s.Name)
	t.To = append([]string(nil), s.Notifier.To...)
	texts := []*string{&t.URL, &t.From, &t.User}
	for i := range t.To {
		texts = append(texts, &t.To[i])
	}
	for _, text := range texts {
		filled, err := secret.Fill(*text, func(name string) (string, error) { return n.Secret(ctx, name) })
		if err != nil {
			return t, err
		}
		*text = strings.TrimSpace(filled)
	}
	if t.Notifier.Token == "" {
		return t, nil
	}
	token, err := n.Secret(ctx, t.Notifier.Token)
	t.Token = strings.TrimSpace(token)
	return t, err
}

// message returns the message that a spec asks for. A link to answer is valid for
// coppice.AnswerLinkTime from now: a repetition gets a new one.
func (n *Notifiers) message(ctx context.Context, s coppice.NotifySpec) (notify.Message, error) {
	m := notify.Message{
		ID: s.Key, Priority: s.Priority, Title: n.Mask(s.Title), Text: n.Mask(s.Text), Project: s.Project, Count: s.Count, At: s.At, Test: s.Test,
	}
	base := strings.TrimRight(cmp.Or(s.Address, n.Address()), "/")
	if base == "" {
		return m.Clean(), nil
	}
	if s.Path != "" {
		m.Link = base + s.Path
	}
	if s.Question != 0 && n.Answer != nil {
		path, err := n.Answer(ctx, s.Question, n.Now().Add(coppice.AnswerLinkTime.D()))
		if err != nil {
			return m, err
		}
		if path != "" {
			m.Answer = base + path
		}
	}
	return m.Clean(), nil
}
