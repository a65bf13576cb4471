package store

import "coppice"

// QueueReader reads the queues of branches on which work lands.
type QueueReader interface {
	Get(id int64) (coppice.Queue, error)
	// Of returns the queue of a project's branch; "" means its base.
	Of(project int64, branch string) (coppice.Queue, error)
	In(project int64) ([]coppice.Queue, error) // the queue of the base first
}

// Queues reads and writes queues.
type Queues interface {
	QueueReader
	Put(*coppice.Queue) error
}
