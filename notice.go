package coppice

import "time"

// NoticeKind says what a notice is about: a kind of entry of the inbox, or one of the
// kinds below.
type NoticeKind string

// The kinds of notice besides those of InboxKind. Nothing waits for a person because of
// them.
const (
	NoticeLanded   NoticeKind = "landed"   // the work of a task landed
	NoticeAnswer   NoticeKind = "answer"   // a task that wanted an answer, or a flow, is done
	NoticeReaction NoticeKind = "reaction" // a reaction with do: notify, or one that gave up
	NoticeComplete NoticeKind = "complete" // all tasks of a project have ended
	NoticeProblem  NoticeKind = "problem"  // something in Coppice or on the machine does not work
)

// NoticePriorities has the priority of each kind of notice. A reaction names its own.
var NoticePriorities = map[NoticeKind]Priority{
	NoticeKind(InboxQuestion): PriorityAction, NoticeKind(InboxPermission): PriorityAction, NoticeKind(InboxWaiting): PriorityAction,
	NoticeKind(InboxLimit): PriorityUrgent, NoticeKind(InboxBudget): PriorityUrgent, NoticeKind(InboxQueue): PriorityUrgent,
	NoticeKind(InboxChange): PriorityAction, NoticeKind(InboxSchedule): PriorityAction, NoticeKind(InboxReview): PriorityAction,
	NoticeKind(InboxFailed): PriorityWarning, NoticeKind(InboxStalled): PriorityWarning, NoticeProblem: PriorityWarning,
	NoticeLanded: PriorityInfo, NoticeAnswer: PriorityInfo, NoticeReaction: PriorityInfo, NoticeComplete: PriorityInfo,
}

// Notice is something that people might want to know. It is stored in the turn that
// sees its event. It belongs to the subject notices.
type Notice struct {
	ID        int64     `json:"id"`
	Key       string    `json:"key"` // names what happened: it is noticed one time
	ProjectID int64     `json:"-"`   // 0 if it belongs to no project
	TaskID    int64     `json:"-"`   // 0 if it belongs to no task
	At        time.Time `json:"at"`
	DueAt     time.Time `json:"due_at,omitzero"`   // when it is decided who gets it; a notice can wait for an hour of the day, or for a pause
	EndedAt   time.Time `json:"ended_at,omitzero"` // it was sent, or nobody has to know any more; zero before
	NoticeDetails
}

// NoticeDetails are the fields of a notice that no query uses.
type NoticeDetails struct {
	Kind     NoticeKind `json:"kind"`
	Priority Priority   `json:"priority"`
	Subject  string     `json:"subject,omitempty"`  // the key of its task, or the prefix of its project
	Title    string     `json:"title,omitempty"`    // of the task
	Text     string     `json:"text"`               // at most MaxNoticeText
	Entry    string     `json:"entry,omitempty"`    // the entry of the inbox that it is about
	Question int64      `json:"question,omitempty"` // the question that it is about
	Sent     []string   `json:"sent,omitempty"`     // the notifiers for which a notification has it
	Outcome  string     `json:"outcome,omitempty"`  // one of the values below
}

// What became of a notice.
const (
	NoticeSent  = "sent"  // a notification has it
	NoticeOver  = "over"  // what it is about was settled before it was sent
	NoticeSeen  = "seen"  // a person looked at the dashboard
	NoticeQuiet = "quiet" // no route sends it
)

// The limits of notices.
const (
	MaxNoticeText     = 1 << 10             // bytes
	KeptNotices       = 2000                // ended ones that are kept
	KeptNotifications = 500                 // ended ones that are kept
	AnswerLinkTime    = Duration(time.Hour) // how long a link can answer a question
)

// Notification is one message to people: by one notifier, about one or more notices.
type Notification struct {
	ID       int64     `json:"-"`
	Key      string    `json:"id"` // receivers get it as it is; it stays the same if the message is sent again
	Notifier string    `json:"notifier"`
	At       time.Time `json:"at"`
	EndedAt  time.Time `json:"ended_at,omitzero"` // it was sent, or given up
	NotificationDetails
}

// NotificationDetails are the fields of a notification that no query uses.
type NotificationDetails struct {
	Kind     string    `json:"kind"` // of the notifier
	Priority Priority  `json:"priority"`
	Title    string    `json:"title"`
	Text     string    `json:"text"`
	Path     string    `json:"path,omitempty"`     // of the page that it is about, in the dashboard
	Project  string    `json:"project,omitempty"`  // the prefix, if all of it is about one project
	Count    int       `json:"count"`              // number of notices
	Question int64     `json:"question,omitempty"` // the question that its link answers
	Test     bool      `json:"test,omitempty"`     // a person tests the notifier
	Tries    int       `json:"tries,omitempty"`    // how often it failed
	RetryAt  time.Time `json:"retry_at,omitzero"`
	Failure  *Failure  `json:"failure,omitempty"` // of the last try
	Outcome  string    `json:"outcome,omitempty"` // one of the values below
	Notice   string    `json:"notice,omitempty"`  // the key of the notice, if it is about one that can be settled
}

// How a notification ended.
const (
	NotificationSent   = "sent"
	NotificationFailed = "failed"
	NotificationOver   = "over" // what it is about was settled, or a person looked at the dashboard, before a try succeeded
)

// NotifySpec asks to send a notification. The worker resolves the secrets of the
// notifier.
type NotifySpec struct {
	Key      string    `json:"key"` // receivers get it, and it stays the same when the work is repeated
	Notifier Notifier  `json:"notifier"`
	Name     string    `json:"name"` // of the notifier
	Priority Priority  `json:"priority"`
	Title    string    `json:"title"`
	Text     string    `json:"text"`
	Path     string    `json:"path,omitempty"`     // of the page that it is about
	Address  string    `json:"address,omitempty"`  // NotifyPolicy.Address
	Question int64     `json:"question,omitempty"` // the question that its link answers
	Project  string    `json:"project,omitempty"`
	Count    int       `json:"count"`
	At       time.Time `json:"at"`
	Test     bool      `json:"test,omitempty"`
}

// NotifyResult is empty: the message was accepted by its receiver.
type NotifyResult struct{}
