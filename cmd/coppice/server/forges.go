package server

import (
	"context"

	"coppice"
	"coppice/control/answerlink"
	"coppice/control/webhooks"
	"coppice/engine"
	"coppice/forge"
	"coppice/forge/gitea"
	"coppice/forge/github"
	"coppice/forge/gitlab"
	"coppice/forge/linear"
)

// forges are the kinds of forge of this program, by name.
var forges = map[string]forge.Opener{
	"gitea":  gitea.Open,
	"github": github.Open,
	"gitlab": gitlab.Open,
}

// trackers are the kinds of tracker of this program, by name.
var trackers = map[string]forge.TrackerOpener{
	"gitea":  gitea.OpenTracker,
	"github": github.OpenTracker,
	"gitlab": gitlab.OpenTracker,
	"linear": linear.Open,
}

// addWebhooks creates the listener for webhooks, if the user's configuration has one.
func (s *Server) addWebhooks(listen string, intake *engine.Intake, secret func(context.Context, string) (string, error)) {
	if listen == "" {
		return
	}
	s.webhooks = webhooks.New(webhooks.Config{
		Listen: listen, Store: s.store, Remote: s.forges.Remote, Secret: secret, Now: s.cfg.Now, Log: s.cfg.Logger, Answers: s.answers, AnswerPath: answerlink.Path,
		Changed: func(ctx context.Context, kind string, project int64, h coppice.ForgeHint) error {
			return intake.As(coppice.Actor{Kind: coppice.ActorForge, Name: kind}).ForgeChanged(ctx, project, h)
		},
	})
}
