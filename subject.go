package coppice

import (
	"strconv"
	"strings"
)

// SubjectKind is a kind of subject: a thing that the engine decides about.
type SubjectKind string

// The kinds of subject.
const (
	SubjectTask     SubjectKind = "task"     // by its id
	SubjectQueue    SubjectKind = "queue"    // by its id: a branch of a project on which work lands
	SubjectProject  SubjectKind = "project"  // by its id
	SubjectAccount  SubjectKind = "account"  // by its name: an agent, or agent:model
	SubjectHooks    SubjectKind = "hooks"    // the hooks of a project, by its id; 0 for those of no project
	SubjectLocks    SubjectKind = "locks"    // by the id of the project: its locks and the requests for them
	SubjectSchedule SubjectKind = "schedule" // by its id
	SubjectForge    SubjectKind = "forge"    // by the id of the project: when its forge is read
	SubjectTracker  SubjectKind = "tracker"  // by the id of the project: its sources of issues, and the issues of its tasks
	SubjectNotices  SubjectKind = "notices"  // there is one: what people might want to know, and the messages to them
	// A family has only a counter of what was spent. The engine does not decide
	// about it.
	SubjectFamily SubjectKind = "family" // by the id of a task: all tasks below it, without the task itself
)

// Subject names one thing that the engine decides about.
type Subject struct {
	Kind SubjectKind
	ID   string
}

// TaskSubject names a task.
func TaskSubject(id int64) Subject { return numbered(SubjectTask, id) }

// QueueSubject names a queue.
func QueueSubject(id int64) Subject { return numbered(SubjectQueue, id) }

// ProjectSubject names a project.
func ProjectSubject(id int64) Subject { return numbered(SubjectProject, id) }

// HooksSubject names the hooks of a project.
func HooksSubject(project int64) Subject { return numbered(SubjectHooks, project) }

// FamilySubject names the tasks below a task.
func FamilySubject(task int64) Subject { return numbered(SubjectFamily, task) }

// AccountSubject names an account.
func AccountSubject(name string) Subject { return Subject{SubjectAccount, name} }

// LocksSubject names the locks of a project.
func LocksSubject(project int64) Subject { return numbered(SubjectLocks, project) }

// ForgeSubject names the forge of a project.
func ForgeSubject(project int64) Subject { return numbered(SubjectForge, project) }

// TrackerSubject names the sources of issues of a project.
func TrackerSubject(project int64) Subject { return numbered(SubjectTracker, project) }

// NoticesSubject names the notices, of which there is one subject.
func NoticesSubject() Subject { return numbered(SubjectNotices, 1) }

// ScheduleSubject names a schedule.
func ScheduleSubject(id int64) Subject { return numbered(SubjectSchedule, id) }

func numbered(kind SubjectKind, id int64) Subject {
	return Subject{kind, strconv.FormatInt(id, 10)}
}

// Num returns the id of a subject that has a number, and 0 for any other.
func (s Subject) Num() int64 {
	n, _ := strconv.ParseInt(s.ID, 10, 64)
	return n
}

// String returns the subject as logs show it, such as task/12; "" for none.
func (s Subject) String() string {
	if s == (Subject{}) {
		return ""
	}
	return string(s.Kind) + "/" + s.ID
}

// ParseSubject reads a subject from its text.
func ParseSubject(text string) Subject {
	kind, id, _ := strings.Cut(text, "/")
	return Subject{SubjectKind(kind), id}
}
