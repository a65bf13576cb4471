package client

import (
	"context"
	"net/http"
	"net/url"

	"coppice"
	"coppice/api"
)

// Inbox lists what needs a person, of one project or of all. With all it has the
// entries that are snoozed, too.
func (c *Client) Inbox(ctx context.Context, project string, all bool) (api.Inbox, error) {
	v := url.Values{}
	set(v, "project", project)
	if all {
		v.Set("all", "true")
	}
	return get[api.Inbox](ctx, c, "/inbox", v)
}

// Snooze hides an entry of the inbox until a time or an event.
func (c *Client) Snooze(ctx context.Context, id string, n coppice.NewSnooze) (coppice.InboxEntry, error) {
	return post[coppice.InboxEntry](ctx, c, "/inbox/"+url.PathEscape(id)+"/snooze", n)
}

// Wake shows an entry of the inbox again.
func (c *Client) Wake(ctx context.Context, id string) (coppice.InboxEntry, error) {
	return call[coppice.InboxEntry](ctx, c, http.MethodDelete, "/inbox/"+url.PathEscape(id)+"/snooze", nil, nil)
}
