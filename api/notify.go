package api

import (
	"time"

	"coppice"
)

// Notifier is a receiver of notifications, as it is configured. Its addresses and
// secrets are left out.
type Notifier struct {
	Name   string        `json:"name"`
	Kind   string        `json:"kind" doc:"Such as slack or webhook"`
	Routes []NotifyRoute `json:"routes" doc:"Which notices it gets; without any, it gets only tests"`
	Last   *Notification `json:"last,omitempty" doc:"Its newest message that was sent or given up"`
}

// NotifyRoute says which notices a notifier gets.
type NotifyRoute struct {
	Priority []coppice.Priority `json:"priority"`
	Projects []string           `json:"projects,omitempty" doc:"Prefixes; absent: all projects"`
	Kinds    []string           `json:"kinds,omitempty" doc:"Kinds of notice; absent: all kinds"`
	Hours    string             `json:"hours,omitempty" doc:"Such as 08:00-18:00, in the server's time zone; absent: all day"`
}

// NotifierList has all notifiers.
type NotifierList struct {
	Notifiers []Notifier       `json:"notifiers"`
	Pause     coppice.Duration `json:"pause" doc:"The least time between two messages of a notifier"`
	Waiting   bool             `json:"waiting,omitempty" doc:"Notices wait to be sent"`
	Looking   bool             `json:"looking,omitempty" doc:"A person looks at the dashboard, so nothing is sent"`
}

// NotifySettings are the keys of the user's config.yaml below notify, and what their
// values can be. Values of secrets are never in it, only their names.
type NotifySettings struct {
	Path     string              `json:"path" doc:"The file"`
	Exists   bool                `json:"exists" doc:"False if the file does not exist and all keys have their defaults"`
	Revision string              `json:"revision" doc:"Identifies the file's current content; send it with a change"`
	Keys     []ConfigKey         `json:"keys"`
	Kinds    []NotifierKind      `json:"kinds" doc:"Of notifiers"`
	Secrets  []string            `json:"secrets" doc:"The names of the user's secrets"`
	Missing  map[string][]string `json:"missing,omitempty" doc:"By notifier: the secrets that it names and that do not exist"`
	Diff     string              `json:"diff,omitempty" doc:"Of a dry run: what the change would do to the file, as a unified diff; absent if nothing"`
}

// NotifierKind says which fields the notifiers of a kind have.
type NotifierKind struct {
	Name   string     `json:"name"`
	Needs  [][]string `json:"needs" doc:"One of these sets of fields is required"`
	Allows []string   `json:"allows,omitempty" doc:"Further fields"`
	Fields []string   `json:"fields" doc:"All fields that it can have, besides kind"`
	Secret bool       `json:"secret,omitempty" doc:"The address is a secret, so it is a reference such as ${secret:NAME}"`
}

// Notification is a message to people.
type Notification struct {
	ID       string           `json:"id" doc:"The receiver gets it; it stays the same if the message is sent again"`
	Notifier string           `json:"notifier"`
	Kind     string           `json:"kind" doc:"Of the notifier"`
	State    string           `json:"state" enum:"sending,retrying,sent,failed,over"`
	Priority coppice.Priority `json:"priority" enum:"urgent,action,warning,info"`
	Title    string           `json:"title"`
	Text     string           `json:"text"`
	Path     string           `json:"path,omitempty" doc:"The page of the dashboard that it is about"`
	Project  string           `json:"project,omitempty" doc:"The prefix, if all of it is about one project"`
	Count    int              `json:"count" doc:"How many notices it is about"`
	Test     bool             `json:"test,omitempty" doc:"A person tested the notifier"`
	Tries    int              `json:"tries,omitempty" doc:"How often it failed"`
	RetryAt  time.Time        `json:"retry_at,omitzero" doc:"When it is tried again"`
	Failure  string           `json:"failure,omitempty" doc:"Why the last try failed"`
	Fix      string           `json:"fix,omitempty" doc:"What a person can do about it"`
	At       time.Time        `json:"at"`
	EndedAt  time.Time        `json:"ended_at,omitzero" doc:"When it was sent, or given up"`
}

// NotificationPage is one page of notifications, newest first.
type NotificationPage struct {
	Notifications []Notification `json:"notifications"`
	Page
}

// NotifyTest asks to test notifiers.
type NotifyTest struct {
	Notifiers []string `json:"notifiers,omitempty" maxItems:"50" doc:"Their names; absent: all"`
}

// Presence says that a person looks at the dashboard.
type Presence struct {
	Until time.Time `json:"until" doc:"Until then nothing is sent"`
}
