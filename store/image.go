package store

import (
	"time"

	"coppice"
)

// ImageReader reads the images that people attached.
type ImageReader interface {
	// Get returns an image with its bytes. It fails with code not_found.
	Get(id string) (coppice.Image, error)
	// Of returns the images of a task without their bytes, oldest first.
	Of(task int64) ([]coppice.Image, error)
}

// Images reads and writes the images that people attached.
type Images interface {
	ImageReader
	// Put stores an image that belongs to no task yet.
	Put(coppice.Image) error
	// Own makes an image belong to a task, too. It is removed with its last task.
	// Own fails with code not_found if the image does not exist.
	Own(id string, task int64) error
	// Prune removes images that belong to no task and were stored before a time.
	Prune(before time.Time) error
}
