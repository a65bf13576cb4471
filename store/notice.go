package store

import (
	"time"

	"coppice"
)

// NoticeReader reads notices.
type NoticeReader interface {
	// ByKey returns the notice with a key. If there is none, the code is not_found.
	ByKey(key string) (coppice.Notice, error)
	// Due returns notices that have not ended and are due then or before, in
	// the order in which they are due.
	Due(then time.Time, most int) ([]coppice.Notice, error)
	// NextDue returns when the next notice that has not ended is due. It is zero if all
	// have ended.
	NextDue() (time.Time, error)
	// KeptSince returns the time since when all notices are kept. It is zero if none was
	// removed because of coppice.KeptNotices.
	KeptSince() (time.Time, error)
}

// Notices reads and writes notices. They are removed with their task, or their project.
type Notices interface {
	NoticeReader
	// Put stores a notice. If another one has the key, it fails with code conflict.
	Put(*coppice.Notice) error
	// Trim removes the oldest ended notices beyond coppice.KeptNotices.
	Trim() error
}

// NotificationReader reads notifications.
type NotificationReader interface {
	// ByKey returns the notification with a key. If there is none, the code is
	// not_found.
	ByKey(key string) (coppice.Notification, error)
	// Open returns the notifications that have not ended, oldest first.
	Open() ([]coppice.Notification, error)
	// List returns notifications, newest first.
	List(NotificationFilter) ([]coppice.Notification, error)
}

// NotificationFilter chooses notifications. A zero field chooses all.
type NotificationFilter struct {
	Notifier string
	BeforeID int64
	Most     int
}

// Notifications reads and writes notifications.
type Notifications interface {
	NotificationReader
	// Put stores a notification. When one has ended, the oldest ended ones beyond
	// coppice.KeptNotifications are removed.
	Put(*coppice.Notification) error
}
