package api

import (
	"strconv"
	"strings"
	"time"

	"coppice"
)

// Removed is a project that is being removed, or already gone.
type Removed struct {
	ID     int64  `json:"id" doc:"An event project.removed of this project says that it was removed"`
	Prefix string `json:"prefix"`
	Path   string `json:"path" doc:"The checkout, which stays as it is"`
	Left   []Left `json:"left" doc:"What stays on disk without purge"`
}

// Left is something that the removal of a project leaves behind.
type Left struct {
	What string `json:"what" doc:"In words"`
	Path string `json:"path" doc:"Where it is"`
}

// Disk is the disk usage.
type Disk struct {
	At       time.Time     `json:"at"`
	Partial  bool          `json:"partial,omitempty" doc:"Not everything was counted in time: the real sizes are larger"`
	Total    int64         `json:"total" doc:"Bytes in the state directory"`
	Free     int64         `json:"free" doc:"Bytes that are free on its disk"`
	State    string        `json:"state" doc:"The state directory"`
	Projects []DiskProject `json:"projects"`
	Server   []DiskPart    `json:"server" doc:"What belongs to no single project"`
	Kept     []DiskKept    `json:"kept" doc:"The size of the history, and its limits"`
}

// DiskKept is one part of the history, and its limits. Beyond them the oldest
// entries are removed, but not work that has not landed, unless it was
// archived.
type DiskKept struct {
	What  string `json:"what" doc:"output, tasks, events, backups"`
	Bytes int64  `json:"bytes,omitempty" doc:"The current size"`
	Count int64  `json:"count,omitempty" doc:"The current number"`
	Size  int64  `json:"size,omitempty" doc:"The most bytes that are kept; 0 means no limit"`
	Most  int64  `json:"most,omitempty" doc:"The most that are kept; 0 means no limit"`
	Age   string `json:"age,omitempty" doc:"How long it is kept, such as 180d; empty means no limit"`
	Limit string `json:"limit" doc:"These limits in words"`
	By    string `json:"by" doc:"What changes the limits: keys of config.yaml, or flags of coppice serve"`
}

// DiskProject is the disk usage of a project.
type DiskProject struct {
	Prefix string     `json:"prefix"`
	Total  int64      `json:"total" doc:"Bytes of the project's files; its output is in the database"`
	Parts  []DiskPart `json:"parts"`
}

// DiskPart is one part of the disk usage.
type DiskPart struct {
	What    string `json:"what" doc:"workspaces, repository, trash, output, database, search index, backups, sessions, other"`
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes" doc:"Space on disk; for output, about its size in the database"`
	Files   int64  `json:"files,omitempty"`
	Partial bool   `json:"partial,omitempty" doc:"Not everything was counted"`
	Within  string `json:"within,omitempty" doc:"It is included in this other part, and not counted twice in totals"`
}

// AtMost formats the limits of a part of the history for people.
func (k DiskKept) AtMost() string {
	var most []string
	if k.Most > 0 {
		most = append(most, strconv.FormatInt(k.Most, 10))
	}
	if k.Size > 0 {
		most = append(most, coppice.Bytes(k.Size).String())
	}
	if k.Age != "" {
		most = append(most, k.Age)
	}
	if len(most) == 0 {
		return "no limit"
	}
	return strings.Join(most, ", ")
}
