package store

import (
	"context"
	"strconv"
	"strings"
)

// Topics name what commits touch, such as session/12. One that ends with a slash
// stands for all that begin with it.
const (
	TopicLog      = "log"      // an event was added
	TopicWork     = "work"     // work was offered
	TopicSessions = "session/" // any session: see TopicSession
)

// TopicTask is touched when an event names the task.
func TopicTask(id int64) string { return "task/" + strconv.FormatInt(id, 10) }

// TopicSession is touched when a session wrote something, ended or was forgotten.
func TopicSession(id int64) string { return TopicSessions + strconv.FormatInt(id, 10) }

// SessionOf returns the session that a topic names, or 0.
func SessionOf(topic string) int64 {
	text, ok := strings.CutPrefix(topic, TopicSessions)
	id, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil {
		return 0
	}
	return id
}

// Watch reports which of its topics commits touch. Whoever waits for a fact
// begins the watch, looks at the fact, and then waits, so that no commit falls
// between. Its methods are called one at a time.
type Watch interface {
	// Wait returns the topics touched since it last returned, each once, as soon
	// as there are any.
	Wait(ctx context.Context) ([]string, error)
	Close()
}
