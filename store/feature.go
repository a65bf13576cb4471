package store

import (
	"encoding/json"

	"coppice"
)

// FeatureReader reads what was agreed on with projects' features files.
type FeatureReader interface {
	// Of returns what was agreed on about each feature of a project, by its id.
	Of(project int64) (map[string]json.RawMessage, error)
	// Tasks returns the newest task of each feature of a project.
	Tasks(project int64) ([]coppice.Task, error)
}

// Features reads and writes what was agreed on with projects' features files.
type Features interface {
	FeatureReader
	// Put stores what was agreed on about features of a project, and removes those
	// whose value is nil. All others stay as they are.
	Put(project int64, seen map[string]json.RawMessage) error
}
