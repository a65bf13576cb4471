package coppice

import (
	"encoding/json"
	"time"
)

// EventKind says what happened, as "<subject>.<past participle>".
type EventKind string

// The kinds of event. The log is read by dashboards, followers and the engine.
const (
	EventProjectAdded   EventKind = "project.added"
	EventProjectChanged EventKind = "project.changed" // its policy, a pause, or a removal in progress
	EventProjectRemoved EventKind = "project.removed" // its rows are removed; its events stay
	EventBaseMoved      EventKind = "project.base_moved"
	EventProjectWarned  EventKind = "project.warned" // a person should check something in its checkout
	EventNeedBegan      EventKind = "project.need_began"
	EventNeedEnded      EventKind = "project.need_ended"

	EventTaskCreated    EventKind = "task.created"
	EventTaskChanged    EventKind = "task.changed" // its request: priority, dependencies and so on
	EventTaskStage      EventKind = "task.stage"   // the pipeline moved it
	EventTaskEnded      EventKind = "task.ended"
	EventTaskStopAsked  EventKind = "task.stop_asked"
	EventTaskRetried    EventKind = "task.retry_asked"
	EventTaskRequeued   EventKind = "task.requeue_asked"
	EventTaskLandAsked  EventKind = "task.land_asked"
	EventTaskRevert     EventKind = "task.revert_asked"
	EventTaskUnstop     EventKind = "task.unstop_asked"
	EventTaskWarned     EventKind = "task.warned"
	EventTaskArchived   EventKind = "task.archived"
	EventTaskUnarchived EventKind = "task.unarchived"
	EventTaskCommented  EventKind = "task.commented"      // review comments were sent to its agent
	EventReviewChanged  EventKind = "task.review_changed" // a comment, or what a person has viewed; the engine ignores it
	EventTaskForgotten  EventKind = "task.forgotten"      // the task, or what was written for it, was beyond the limits of the history; Data is a Forgotten

	EventFlowPlanned EventKind = "flow.planned"  // its kind planned steps or documents, or changed where it is
	EventFlowAsked   EventKind = "flow.asked"    // a person or one of its sessions asked for something
	EventFlowBranch  EventKind = "flow.branch"   // its branch was created or removed
	EventDocument    EventKind = "flow.document" // a person or a session wrote a document; Data is a DocumentChange

	EventSessionCreated EventKind = "session.created"
	EventSessionStarted EventKind = "session.started"
	EventSessionState   EventKind = "session.state" // working, waiting, idle
	EventSessionUsage   EventKind = "session.usage" // its cost has grown
	EventSessionTurn    EventKind = "session.turn"  // turns of its model have ended; the reason is their number
	EventSessionEnded   EventKind = "session.ended"
	EventSessionWarned  EventKind = "session.warned" // stalled, long-running

	EventSessionParked   EventKind = "session.parked"   // it can only wait, and does not count against the limits
	EventSessionUnparked EventKind = "session.unparked" // it counts again
	EventSessionReport   EventKind = "session.report"   // its agent reported what it is doing

	EventQuestionAsked    EventKind = "question.asked"
	EventQuestionAnswered EventKind = "question.answered"
	EventMessageSent      EventKind = "message.sent"
	EventMessageDelivered EventKind = "message.delivered"
	EventMessageFailed    EventKind = "message.failed"

	EventWorkspaceReady    EventKind = "workspace.ready"
	EventWorkspaceRemoved  EventKind = "workspace.removed"
	EventWorkspaceRestored EventKind = "workspace.restored"
	EventUndoAsked         EventKind = "workspace.undo_asked"
	EventTrashEmptied      EventKind = "workspace.trash_emptied" // a person asked to remove its trash permanently

	EventLandingOpened   EventKind = "landing.opened"
	EventLandingMerged   EventKind = "landing.merged"
	EventLandingVerified EventKind = "landing.verified" // a verifier passed its candidate
	EventLandingApproved EventKind = "landing.approved" // a person approved its head
	EventLandingQueued   EventKind = "landing.queued"
	EventLandingPushed   EventKind = "landing.pushed" // the remote has its commit
	EventLandingWaits    EventKind = "landing.waits"
	EventLandingRetried  EventKind = "landing.retry" // something that it waits for has changed
	EventLandingEnded    EventKind = "landing.ended"
	EventCheckStarted    EventKind = "check.started"
	EventCheckEnded      EventKind = "check.ended"

	EventPreviewStarted EventKind = "preview.started" // a person asked for it
	EventPreviewReady   EventKind = "preview.ready"
	EventPreviewStop    EventKind = "preview.stop_asked"
	EventPreviewEnded   EventKind = "preview.ended"

	EventPullOpened  EventKind = "pull.opened"  // the forge has the pull request of a task
	EventPullChanged EventKind = "pull.changed" // what Coppice did to a pull request, or what its forge reported
	EventPullCI      EventKind = "pull.ci"      // the checks of the forge ended for its head
	EventPullMerged  EventKind = "pull.merged"
	EventPullClosed  EventKind = "pull.closed"
	EventForgeRead   EventKind = "forge.read"       // a pass over the pull requests of a project, or its failure
	EventForgeAsked  EventKind = "forge.read_asked" // a webhook or a person asked to read a forge now
	EventReaction    EventKind = "task.reaction"    // a rule of reactions applied; Data is a Reacted

	EventTrackerRead   EventKind = "tracker.read"       // a pass over the issues of a source, or its failure
	EventTrackerAsked  EventKind = "tracker.read_asked" // a person asked to read the sources now, or to accept the text of an issue
	EventIssueImported EventKind = "issue.imported"     // issues became tasks
	EventIssueChanged  EventKind = "issue.changed"      // what Coppice wrote to an issue, or what has to be written

	EventWorkOffered   EventKind = "work.offered"
	EventWorkFinished  EventKind = "work.finished"
	EventWorkExpired   EventKind = "work.expired"
	EventWorkCancelled EventKind = "work.cancelled"

	EventAgentLimited EventKind = "agent.limited"
	EventAgentCleared EventKind = "agent.cleared"
	// The budgets of accounts in the user's configuration have changed.
	EventBudgetsChanged EventKind = "agent.budgets_changed"

	EventServerStarted EventKind = "server.started"
	EventLandingReady  EventKind = "landing.ready" // a proven candidate is about to land, and there are hooks before that
	EventHookEnded     EventKind = "hook.ended"
	EventHookTested    EventKind = "hook.test_asked" // a person tests hooks
	EventNoteChanged   EventKind = "note.changed"    // a note was written or deleted; Data is a NoteChange; the engine ignores it

	EventLocksChanged EventKind = "locks.changed" // locks of sessions, or requests for them; Data is a LocksChanged

	EventScheduleAdded   EventKind = "schedule.added"
	EventScheduleChanged EventKind = "schedule.changed" // a person or a failed run paused it, a person resumed it or asked for a run, or its next time changed
	EventScheduleRun     EventKind = "schedule.run"     // it created a task
	EventScheduleRemoved EventKind = "schedule.removed"

	EventNoticesDecided     EventKind = "notices.decided"         // who gets notices, and when
	EventNotificationSent   EventKind = "notification.sent"       // its receiver accepted it
	EventNotificationFailed EventKind = "notification.failed"     // it could not be sent; it is tried again, or given up
	EventNotifyTested       EventKind = "notification.test_asked" // a person tests notifiers

	EventInboxSnoozed EventKind = "inbox.snoozed" // a person hides an entry of the inbox for a while
	EventInboxWoken   EventKind = "inbox.woken"   // a person shows it again
)

// Event is one line of the append-only log. The store assigns Seq: it grows by
// one with every committed event, and no number is used twice.
type Event struct {
	Seq       int64           `json:"seq"`
	At        time.Time       `json:"at"`
	Kind      EventKind       `json:"kind"`
	ProjectID int64           `json:"project_id,omitempty"`
	TaskID    int64           `json:"task_id,omitempty"`
	SessionID int64           `json:"session_id,omitempty"`
	About     Subject         `json:"-"`                 // the subject that the engine should look at; the task if empty
	Subject   string          `json:"subject,omitempty"` // its key, for people
	By        string          `json:"by"`                // the decider, "person", "worker", or the agent's session key
	Reason    string          `json:"reason,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
}

// PauseChange says that a project, or one of its tracks, was paused or continues.
type PauseChange struct {
	Paused bool   `json:"paused"`
	Track  string `json:"track,omitempty"`
}

// Forgotten says what was removed of a task because it was beyond the limits of
// the history.
type Forgotten struct {
	All    bool    `json:"all"`              // the task itself, not only what was written for it
	Checks []int64 `json:"checks,omitempty"` // the checks whose logs were removed
}
