package api

import (
	"time"

	"coppice"
)

// UndoList is the newest things that can be undone.
type UndoList struct {
	Undo []coppice.Undo `json:"undo" doc:"The newest first; each task is listed at most once"`
}

// Undone is a thing that is being undone.
type Undone struct {
	Undone coppice.Undo `json:"undone"`
	Task   Task         `json:"task"`
}

// TrashList is the removed workspaces that can be restored.
type TrashList struct {
	Trash []TrashItem `json:"trash" doc:"What was removed last comes first"`
	More  bool        `json:"more,omitempty" doc:"There is more than the list has"`
}

// TrashItem is an entry of the trash.
type TrashItem struct {
	Project   string    `json:"project"`
	Task      string    `json:"task" doc:"The key of its task"`
	Title     string    `json:"title" doc:"The title of its task"`
	Branch    string    `json:"branch"`
	What      string    `json:"what" enum:"workspace,branches" doc:"A workspace, or branches that agents created besides the task's: see the task's stray_branches"`
	RemovedAt time.Time `json:"removed_at"`
	ExpiresAt time.Time `json:"expires_at" doc:"When it is removed permanently"`
	Restores  bool      `json:"restores" doc:"It can be restored; otherwise it is of an earlier workspace, or its task is not ended"`
	Uses      string    `json:"uses,omitempty" doc:"Why it is in use, so that it cannot be removed"`
}

// TrashEmptied says what is being removed permanently.
type TrashEmptied struct {
	Tasks []string `json:"tasks" doc:"The keys of the tasks whose trash is removed, once for each entry"`
	More  bool     `json:"more,omitempty" doc:"There is more; repeat the request"`
}
