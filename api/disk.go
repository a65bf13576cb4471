package api

import (
	"strconv"
	"strings"
	"time"

	"coppice"
)

// Removed is a project that is being removed, or already gone.
type Removed struct {
	ID     int64  `json:"id" doc:"An event project.removed of this project tells that it is gone"`
	Prefix string `json:"prefix"`
	Path   string `json:"path" doc:"The checkout, which stays as it is"`
	Left   []Left `json:"left" doc:"What is left on disk without purge"`
}

// Left is something of a project that its removal leaves behind.
type Left struct {
	What string `json:"what" doc:"In words"`
	Path string `json:"path" doc:"Where it is"`
}

// Disk is what uses disk.
type Disk struct {
	At       time.Time     `json:"at"`
	Partial  bool          `json:"partial,omitempty" doc:"Not everything was counted in time: sizes are at least these"`
	Total    int64         `json:"total" doc:"Bytes that the state directory takes"`
	Free     int64         `json:"free" doc:"Bytes that are free on its disk"`
	State    string        `json:"state" doc:"The state directory"`
	Projects []DiskProject `json:"projects"`
	Server   []DiskPart    `json:"server" doc:"What belongs to no single project"`
	Kept     []DiskKept    `json:"kept" doc:"How much of the history there is, and how much is kept"`
}

// DiskKept is one part of the history, and the limits beyond which the oldest of
// it is removed. Work that has not landed is not, unless it was put away.
type DiskKept struct {
	What  string `json:"what" doc:"output, tasks, events, backups"`
	Bytes int64  `json:"bytes,omitempty" doc:"How much there is"`
	Count int64  `json:"count,omitempty" doc:"How many there are"`
	Size  int64  `json:"size,omitempty" doc:"The most bytes that are kept; 0 means no limit"`
	Most  int64  `json:"most,omitempty" doc:"The most that are kept; 0 means no limit"`
	Age   string `json:"age,omitempty" doc:"How long it is kept, such as 180d; empty means no limit"`
	By    string `json:"by" doc:"What changes the limits: keys of config.yaml, or flags of coppice serve"`
}

// DiskProject is what a project uses.
type DiskProject struct {
	Prefix string     `json:"prefix"`
	Total  int64      `json:"total" doc:"Bytes of its own files; its output is in the database"`
	Parts  []DiskPart `json:"parts"`
}

// DiskPart is one thing that uses disk.
type DiskPart struct {
	What    string `json:"what" doc:"workspaces, repository, trash, output, database, search index, backups, sessions, other"`
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes" doc:"Space on disk; of output, about what it takes in the database"`
	Files   int64  `json:"files,omitempty"`
	Partial bool   `json:"partial,omitempty" doc:"Not everything was counted"`
	Within  string `json:"within,omitempty" doc:"It is part of this other thing, and not counted in totals again"`
}

// AtMost writes the limits of a part of the history for people.
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
