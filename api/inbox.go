package api

import "coppice"

// Inbox is everything that needs a person: what blocks an agent first, then what
// blocks work, then results, each the oldest first.
type Inbox struct {
	Entries []coppice.InboxEntry `json:"entries"`
	Snoozed int                  `json:"snoozed" doc:"How many entries are hidden until a time or an event"`
	More    bool                 `json:"more,omitempty" doc:"There are more: at most 200 tasks of a kind are listed"`
}
