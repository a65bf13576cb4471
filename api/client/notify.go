package client

import (
	"context"
	"net/http"
	"net/url"

	"coppice/api"
)

// NotificationQuery chooses notifications. The zero value means the newest of all.
type NotificationQuery struct {
	Notifier string
	Before   int64 // the Next of the previous page
	Limit    int   // 0 means the server's default
}

// Notifiers lists the notifiers.
func (c *Client) Notifiers(ctx context.Context) (api.NotifierList, error) {
	return get[api.NotifierList](ctx, c, "/notifiers", nil)
}

// NotifySettings returns the keys of the user's configuration below notify.
func (c *Client) NotifySettings(ctx context.Context) (api.NotifySettings, error) {
	return get[api.NotifySettings](ctx, c, "/notifiers/settings", nil)
}

// SetNotify changes one key of the user's configuration below notify.
func (c *Client) SetNotify(ctx context.Context, change api.ConfigChange) (api.NotifySettings, error) {
	return call[api.NotifySettings](ctx, c, http.MethodPatch, "/notifiers/settings", nil, change)
}

// Notifications lists the messages to people, newest first.
func (c *Client) Notifications(ctx context.Context, q NotificationQuery) (api.NotificationPage, error) {
	v := query("notifier", q.Notifier)
	setNumber(v, "before", q.Before)
	setNumber(v, "limit", q.Limit)
	return get[api.NotificationPage](ctx, c, "/notifications", v)
}

// TestNotifiers sends a test message by the named notifiers, or by all. The messages
// have not been sent when it returns.
func (c *Client) TestNotifiers(ctx context.Context, names []string) (api.NotificationPage, error) {
	return call[api.NotificationPage](ctx, c, http.MethodPost, "/notifiers/test", nil, api.NotifyTest{Notifiers: names})
}

// WaitNotification returns a message after it was sent or given up.
func (c *Client) WaitNotification(ctx context.Context, id string) (api.Notification, error) {
	for {
		n, err := get[api.Notification](ctx, c, "/notifications/"+url.PathEscape(id), url.Values{"wait": {hookWait}})
		if err != nil || !n.EndedAt.IsZero() {
			return n, err
		}
	}
}

// Look says that a person looks at the dashboard.
func (c *Client) Look(ctx context.Context) (api.Presence, error) {
	return call[api.Presence](ctx, c, http.MethodPost, "/presence", nil, nil)
}
