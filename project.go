package coppice

import "time"

// Project is a git repository and its policy.
type Project struct {
	ID         int64     `json:"id"`
	Prefix     string    `json:"prefix"` // of its tasks' keys
	Path       string    `json:"path"`   // the root of the person's checkout
	Policy     Policy    `json:"policy"`
	BaseCommit string    `json:"base_commit,omitempty"` // where the base was when last seen; the tip of its queue, which has it
	LastTask   int       `json:"last_task"`             // the number of its newest task
	CreatedAt  time.Time `json:"created_at"`
	PausedAt   time.Time `json:"paused_at,omitzero"` // no session starts while set
	// PausedTracks names the tracks in which no session starts, and why.
	PausedTracks map[string]string `json:"paused_tracks,omitempty"`
	// Strikes counts, by track, the environment failures in a row.
	Strikes map[string]int `json:"strikes,omitempty"`
	// CheckEnv is the environment the newest check ran in; judgements from
	// another one no longer count. The store derives it from the checks.
	CheckEnv string `json:"check_env,omitempty"`
	// Rules are what people said "always" to, newest first. They come before
	// those of the policy.
	Rules []Rule `json:"rules,omitempty"`
	// Needs are what the project needs a person for, the oldest first, those of
	// its queue included. Only its own are written with it.
	Needs Needs `json:"needs,omitempty"`
	// Removal is there while the project is being removed: nothing new begins in
	// it, and it goes when nothing of it runs.
	Removal *Removal `json:"removal,omitempty"`
	// Git is the part of git's configuration that the person confirmed when the
	// project was added; nil while nobody has. Addresses may hold passwords, so it
	// is never sent anywhere.
	Git []GitSetting `json:"-"`
}

// Onto is the branch that a task's work lands on.
func (p Project) Onto(t Task) string {
	if t.Onto != "" {
		return t.Onto
	}
	return p.Policy.Base
}

// Removal is how a person removes a project.
type Removal struct {
	At    time.Time `json:"at"`
	Force bool      `json:"force,omitempty"` // its open tasks are stopped first
	Purge bool      `json:"purge,omitempty"` // with everything that Coppice made for it on disk
	// Problem is what keeps it from being removed; it is tried again.
	Problem string `json:"problem,omitempty"`
}
