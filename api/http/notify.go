package http

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// Notify knows who gets notifications, and tests notifiers.
type Notify interface {
	NotifyPolicy() coppice.NotifyPolicy
	TestNotifiers(ctx context.Context, names []string) ([]coppice.Notification, error)
}

// lookTime is how long a person counts as looking at the dashboard after it said so. It
// says so every 20 seconds, as long as it is visible and used.
const lookTime = 45 * time.Second

type notificationsIn struct {
	Notifier string `query:"notifier" maxLength:"64" doc:"Only this notifier"`
	PageIn
}

type notificationIn struct {
	ID   string `path:"id" maxLength:"200"`
	Wait int    `query:"wait" minimum:"0" maximum:"30" doc:"Wait at most this many seconds until it was sent or given up"`
}

type testNotifiersIn struct{ Body api.NotifyTest }

type changeNotifyIn struct{ Body api.ConfigChange }

func (s *Server) notifyRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/notifiers", id: "list-notifiers", tag: "notifications", about: "List the notifiers of the user's configuration, with their routes and newest results"}, s.notifiers)
	add(s, a, op{method: http.MethodPost, path: "/notifiers/test", id: "test-notifiers", tag: "notifications", about: "Send a test message, whatever the routes say"}, s.testNotifiers)
	add(s, a, op{method: http.MethodGet, path: "/notifiers/settings", id: "show-notify-settings", tag: "notifications", about: "Show every key below notify of the user's config.yaml, with the kinds of notifier"}, s.notifySettings)
	add(s, a, op{method: http.MethodPatch, path: "/notifiers/settings", id: "change-notify-settings", tag: "notifications", body: textBody,
		about: "Set or unset one key below notify of the user's config.yaml; the rest of the file does not change"}, s.changeNotifySettings)
	add(s, a, op{method: http.MethodGet, path: "/notifications", id: "list-notifications", tag: "notifications", about: "List the messages to people, newest first"}, s.notifications)
	add(s, a, op{method: http.MethodGet, path: "/notifications/{id}", id: "show-notification", tag: "notifications", about: "Show a message, or wait until it was sent or given up"}, s.notification)
	add(s, a, op{method: http.MethodPost, path: "/presence", id: "look", tag: "notifications", about: "Say that a person looks at the dashboard, so that nothing is sent for 45 seconds"}, s.look)
}

func (s *Server) notifyPolicy() coppice.NotifyPolicy {
	if s.cfg.Notify == nil {
		return coppice.NotifyPolicy{}
	}
	return s.cfg.Notify.NotifyPolicy()
}

// configProblem says why the user's configuration cannot be read. The last one that
// could be read still applies, but it is not what people see in the file.
func (s *Server) configProblem() error {
	if s.cfg.ConfigProblem == nil {
		return nil
	}
	return s.cfg.ConfigProblem()
}

func (s *Server) notifiers(ctx context.Context, _ *none) (out api.NotifierList, err error) {
	if err := s.configProblem(); err != nil {
		return out, err
	}
	policy := s.notifyPolicy()
	out = api.NotifierList{Notifiers: []api.Notifier{}, Pause: policy.MinPause()}
	out.Looking = s.cfg.Looking != nil && s.cfg.Looking().After(s.cfg.Now())
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		next, err := r.Notices.NextDue()
		if err != nil {
			return err
		}
		out.Waiting = !next.IsZero()
		for _, name := range slices.Sorted(maps.Keys(policy.Notifiers)) {
			n := api.Notifier{Name: name, Kind: policy.Notifiers[name].KindOf(name), Routes: []api.NotifyRoute{}}
			for _, route := range policy.AllRoutes() {
				if slices.Contains(route.To, name) {
					n.Routes = append(n.Routes, api.NotifyRoute{Priority: route.Priorities(), Projects: route.Projects, Kinds: route.Kinds, Hours: route.Hours})
				}
			}
			list, err := r.Notifications.List(store.NotificationFilter{Notifier: name, Most: 10})
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(list, func(n coppice.Notification) bool { return !n.EndedAt.IsZero() }); i >= 0 {
				last := notificationView(list[i])
				n.Last = &last
			}
			out.Notifiers = append(out.Notifiers, n)
		}
		return nil
	})
	return out, err
}

func (s *Server) testNotifiers(ctx context.Context, in *testNotifiersIn) (out api.NotificationPage, err error) {
	out.Notifications = []api.Notification{}
	if s.cfg.Notify == nil {
		return out, coppice.Errorf(coppice.EUnavailable, "this server has no notifiers")
	}
	if err := s.configProblem(); err != nil {
		return out, err
	}
	list, err := s.cfg.Notify.TestNotifiers(ctx, in.Body.Notifiers)
	for _, n := range list {
		out.Notifications = append(out.Notifications, notificationView(n))
	}
	return out, err
}

func (s *Server) notifySettings(ctx context.Context, _ *none) (api.NotifySettings, error) {
	if err := s.hasSettings(); err != nil {
		return api.NotifySettings{}, err
	}
	return s.cfg.Settings.Notify(ctx)
}

func (s *Server) changeNotifySettings(ctx context.Context, in *changeNotifyIn) (api.NotifySettings, error) {
	if err := cmp.Or(s.hasSettings(), valueOrUnset(in.Body)); err != nil {
		return api.NotifySettings{}, err
	}
	if !strings.HasPrefix(in.Body.Key, "notify.") {
		return api.NotifySettings{}, coppice.Errorf(coppice.EInvalid, "%s is not a key below notify", coppice.Quote(in.Body.Key)).
			WithFix("run `coppice config set --user KEY VALUE` to change another key").WithField("key")
	}
	return s.cfg.Settings.SetNotify(ctx, in.Body)
}

func (s *Server) notifications(ctx context.Context, in *notificationsIn) (out api.NotificationPage, err error) {
	out.Notifications = []api.Notification{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		list, err := r.Notifications.List(store.NotificationFilter{Notifier: in.Notifier, BeforeID: in.Before, Most: in.Limit + 1})
		if len(list) > in.Limit {
			list = list[:in.Limit]
			out.Next = list[in.Limit-1].ID
		}
		for _, n := range list {
			out.Notifications = append(out.Notifications, notificationView(n))
		}
		return err
	})
	return out, err
}

func (s *Server) notification(ctx context.Context, in *notificationIn) (out api.Notification, err error) {
	err = s.untilEnded(ctx, store.TopicNotifications, in.Wait, func(r store.Reader) (open bool, err error) {
		n, err := r.Notifications.ByKey(in.ID)
		out = notificationView(n)
		return n.EndedAt.IsZero(), err
	})
	return out, err
}

func (s *Server) look(context.Context, *none) (api.Presence, error) {
	if s.cfg.Look == nil {
		return api.Presence{}, coppice.Errorf(coppice.EUnavailable, "this server sends no notifications")
	}
	until := s.cfg.Now().Add(lookTime).UTC()
	s.cfg.Look(until)
	return api.Presence{Until: until}, nil
}

func notificationView(n coppice.Notification) api.Notification {
	v := api.Notification{
		ID: n.Key, Notifier: n.Notifier, Kind: n.Kind, State: n.Outcome, Priority: n.Priority, Title: n.Title, Text: n.Text, Path: n.Path, Project: n.Project,
		Count: n.Count, Test: n.Test, Tries: n.Tries, RetryAt: n.RetryAt, At: n.At, EndedAt: n.EndedAt,
	}
	switch {
	case n.Outcome == "" && n.Tries == 0:
		v.State = "sending"
	case n.Outcome == "":
		v.State = "retrying"
	}
	if n.Failure != nil {
		v.Failure, v.Fix = n.Failure.Text, n.Failure.Fix
	}
	return v
}
