package store

import "coppice"

// CommentReader reads review comments.
type CommentReader interface {
	Get(id int64) (coppice.Comment, error)
	Of(task int64) ([]coppice.Comment, error) // oldest first
}

// Comments reads and writes review comments.
type Comments interface {
	CommentReader
	Put(*coppice.Comment) error
	// Drop removes a comment. Its id is not used again.
	Drop(id int64) error
}

// ViewedReader reads which files people have viewed.
type ViewedReader interface {
	Of(task int64) ([]coppice.Viewed, error) // by person and path
}

// Viewed reads and writes which files people have viewed. A person has viewed at
// most one content of a file.
type Viewed interface {
	ViewedReader
	Put(coppice.Viewed) error
	Drop(task int64, by, path string) error // no error if there is none
}
