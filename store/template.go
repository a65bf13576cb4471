package store

import "coppice"

// TemplateReader reads what became of the tasks that were created from templates.
type TemplateReader interface {
	// Stats sums up the ended ones, ordered by template and model. Project 0 means all
	// projects. It reads no other tasks.
	Stats(project int64) ([]coppice.TemplateStat, error)
}
