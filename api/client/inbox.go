package client

import (
	"context"
	"net/http"
	"net/url"

	"coppice"
	"coppice/api"
)

// InboxQuery chooses entries of the inbox. With marks, it chooses only entries of
// tasks that have them.
type InboxQuery struct {
	Project string // a prefix; empty means all
	All     bool   // also entries that are snoozed
	Marks
}

// Inbox lists what needs a person.
func (c *Client) Inbox(ctx context.Context, q InboxQuery) (api.Inbox, error) {
	v := query("project", q.Project)
	q.set(v)
	setIf(v, "all", q.All)
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
