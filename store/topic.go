package store

import (
	"context"
	"strconv"
	"strings"
)

// Topics name what commits touch, such as session/12. A topic that ends with a
// slash stands for all topics that start with it.
const (
	TopicLog           = "log"           // an event was added
	TopicWork          = "work"          // work was offered
	TopicHooks         = "hooks"         // a run of a hook changed
	TopicNotifications = "notifications" // a message to people changed
	TopicSessions      = "session/"      // any session: see TopicSession
)

// TopicTask returns the topic that is touched when an event names the task.
func TopicTask(id int64) string { return "task/" + strconv.FormatInt(id, 10) }

// TopicSession returns the topic that is touched when a session wrote output,
// ended or was removed.
func TopicSession(id int64) string { return TopicSessions + strconv.FormatInt(id, 10) }

// TopicFree returns the topic that is touched when a session was written that is
// not parked.
func TopicFree(id int64) string { return "free/" + strconv.FormatInt(id, 10) }

// SessionOf returns the session that a topic names, or 0.
func SessionOf(topic string) int64 {
	text, ok := strings.CutPrefix(topic, TopicSessions)
	id, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil {
		return 0
	}
	return id
}

// Watch reports which of its topics commits touch. To wait for a fact, start the
// watch, read the fact, and then wait, so that no commit is missed. Its methods
// must not be called concurrently.
type Watch interface {
	// Wait returns the topics that were touched since its last return, each once.
	// It waits until there is one.
	Wait(ctx context.Context) ([]string, error)
	Close()
}
