package store

import (
	"strconv"

	"coppice"
)

// DocumentReader reads the documents of flows.
type DocumentReader interface {
	// Newest returns the newest version of each document of a flow, with its text,
	// sorted by name.
	Newest(task int64) ([]coppice.Document, error)
	// Get returns one version; 0 means the newest. It fails with code not_found.
	Get(task int64, name string, version int64) (coppice.Document, error)
	// Versions returns the versions of a document that are kept, the newest first,
	// without their texts.
	Versions(task int64, name string) ([]coppice.Document, error)
}

// Documents reads and writes the documents of flows. They are removed with the flow.
type Documents interface {
	DocumentReader
	// Put adds a version. It sets the ID, the version and the size, and removes
	// versions beyond coppice.MaxVersions.
	Put(*coppice.Document) error
}

// TopicDocuments returns the topic that is touched when a document of a flow changed.
func TopicDocuments(task int64) string { return "documents/" + strconv.FormatInt(task, 10) }
