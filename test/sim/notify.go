package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/store"
)

// notified is what happened to messages to people.
type notified struct {
	Messages int // that were accepted
	Again    int // that were accepted more than once
	GivenUp  int
	Notices  int // that are in messages
}

// notifying is what the world knows of messages. It is nil unless Options.Notify is
// set.
type notifying struct {
	rng      *rand.Rand
	accepted map[string][]coppice.NotifySpec // by id
	looking  time.Time                       // until when a person looks at the dashboard
}

func newNotifying(seed uint64) *notifying {
	return &notifying{rng: rand.New(rand.NewPCG(seed, 60)), accepted: map[string][]coppice.NotifySpec{}}
}

// notifyPolicy has a notifier that gets everything, and one that gets only what is
// urgent or waits for a person, in some hours.
func (s *sim) notifyPolicy() coppice.NotifyPolicy {
	if s.notifying == nil {
		return coppice.NotifyPolicy{}
	}
	return coppice.NotifyPolicy{
		Notifiers: map[string]coppice.Notifier{"all": {Kind: "desktop"}, "phone": {Kind: "desktop"}},
		Routes:    []coppice.NotifyRoute{{To: []string{"all"}, Priority: coppice.Priorities}, {To: []string{"phone"}, Hours: "00:10-23:50"}},
	}
}

func (s *sim) lookingUntil() time.Time {
	if s.notifying == nil {
		return time.Time{}
	}
	return s.notifying.looking
}

// look is a person who looks at the dashboard for a while.
func (s *sim) look() error {
	if s.notifying != nil {
		s.notifying.looking = s.now.Add(time.Minute)
	}
	return nil
}

// notifyActions are those of every history, and a person who looks at the dashboard.
func (s *sim) notifyActions() weights {
	s.opt.Notify = false
	defer func() { s.opt.Notify = true }()
	return append(s.actions(), weight{"look", 1})
}

// sendMessage is a receiver that does not accept everything.
func (s *sim) sendMessage(v coppice.NotifySpec) (any, error) {
	n := s.notifying
	if !s.calm && n.rng.IntN(4) == 0 {
		return nil, coppice.Failf(coppice.ClassEnvironment, "connection refused", "")
	}
	for _, earlier := range n.accepted[v.Key] {
		if earlier.Title != v.Title || earlier.Text != v.Text || earlier.Count != v.Count || earlier.Name != v.Name {
			return nil, fmt.Errorf("the message %s is repeated with another text", v.Key)
		}
	}
	n.accepted[v.Key] = append(n.accepted[v.Key], v)
	return coppice.NotifyResult{}, nil
}

// noticesHold checks after a turn that each entry of the inbox was noticed.
func (s *sim) noticesHold(r store.Reader) error {
	if s.notifying == nil {
		return nil
	}
	f, err := engine.LoadInbox(r, s.now, 0)
	if err != nil {
		return err
	}
	for _, e := range engine.Inbox(f) {
		if _, err := r.Notices.ByKey(engine.EntryKey(e)); err != nil && !e.Snoozed {
			return fmt.Errorf("the inbox has %s (%s), and nobody was notified: %w", e.ID, e.Text, err)
		}
	}
	return nil
}

// sendAll waits until all messages are sent.
func (s *sim) sendAll() error {
	if s.notifying == nil {
		return nil
	}
	for range 2000 {
		if err := s.round(); err != nil {
			return err
		}
		done := false
		if err := s.st.View(s.ctx, func(r store.Reader) error {
			open, err := r.Notifications.Open()
			next, nextErr := r.Notices.NextDue()
			done = len(open) == 0 && next.IsZero()
			return errors.Join(err, nextErr)
		}); err != nil || done {
			return err
		}
		if s.now = s.now.Add(time.Second); s.due.After(s.now) {
			s.now = s.due
		}
	}
	return errors.New("some messages are never sent")
}

// messagesHold checks at the end that each message was accepted, and that messages
// count each notice once.
func (s *sim) messagesHold(r store.Reader) (n notified, err error) {
	if s.notifying == nil {
		return n, nil
	}
	list, err := r.Notifications.List(store.NotificationFilter{})
	if err != nil {
		return n, err
	}
	for _, m := range list {
		accepted := len(s.notifying.accepted[m.Key])
		switch {
		case m.EndedAt.IsZero(), m.Outcome == coppice.NotificationSent && accepted == 0:
			return n, fmt.Errorf("a message was accepted %d times: %+v", accepted, m)
		case m.Outcome == coppice.NotificationFailed:
			n.GivenUp++
		case accepted > 1:
			n.Again++
		}
		n.Messages, n.Notices = n.Messages+1, n.Notices+m.Count
	}
	return n, nil
}
