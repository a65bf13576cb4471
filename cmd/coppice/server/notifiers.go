package server

import (
	"context"
	"maps"

	"coppice/config"
	"coppice/notify"
	"coppice/notify/child"
	"coppice/notify/mail"
	"coppice/notify/post"
	"coppice/notify/program"
	"coppice/worker"
)

// configProblem says why the user's configuration cannot be read now.
func (s *Server) configProblem() error {
	_, _, err := config.UserOf(s.cfg.Environ)
	return err
}

// notifiers returns what sends notifications: all kinds of notifier.
func (s *Server) notifiers(secret func(context.Context, string) (string, error)) *worker.Notifiers {
	kinds := map[string]notify.Sender{"mail": &mail.Sender{}, "program": program.Sender{Environ: s.cfg.Environ}}
	maps.Copy(kinds, post.Senders(post.Config{Client: notify.NewClient(nil, s.cfg.Now)}))
	maps.Copy(kinds, child.Senders(s.cfg.Self, s.cfg.Environ))
	address := func() string {
		if s.http == nil { // work can start before the server listens
			return ""
		}
		return s.http.URL()
	}
	return &worker.Notifiers{Kinds: kinds, Secret: secret, Mask: s.cfg.Redact.String, Address: address, Answer: s.answers.Link, Now: s.cfg.Now}
}
