package coppice

import "time"

// Project is a git repository and its policy.
type Project struct {
	ID         int64     `json:"id"`
	Prefix     string    `json:"prefix"`                     // of its tasks' keys
	Earlier    []string  `json:"earlier_prefixes,omitempty"` // that it had before it was renamed; its older tasks have them, and they still name the project
	Path       string    `json:"path"`                       // the root of the person's checkout
	Policy     Policy    `json:"policy"`
	BaseCommit string    `json:"base_commit,omitempty"` // where Coppice last saw the base; stored as the tip of its queue
	LastTask   int       `json:"last_task"`             // the number of its newest task
	CreatedAt  time.Time `json:"created_at"`
	PausedAt   time.Time `json:"paused_at,omitzero"` // no session starts while set
	// PausedTracks names the tracks in which no session starts, and why.
	PausedTracks map[string]string `json:"paused_tracks,omitempty"`
	// Strikes counts, by track, the environment failures in a row.
	Strikes map[string]int `json:"strikes,omitempty"`
	// CheckEnv is the environment of the newest check. Results from another
	// environment no longer count. The store derives it from the checks.
	CheckEnv string `json:"check_env,omitempty"`
	// Rules are from answers of people with "always", newest first. They come
	// before the rules of the policy.
	Rules []Rule `json:"rules,omitempty"`
	// Needs lists why the project needs a person, the oldest first, with the
	// needs of its queue. Only its own are written with it.
	Needs Needs `json:"needs,omitempty"`
	// Removal is set while the project is being removed. Nothing new starts in
	// it, and it is removed when none of its work runs.
	Removal *Removal `json:"removal,omitempty"`
	// Git is the part of git's configuration that the person confirmed when the
	// project was added, or nil. Addresses can contain passwords, so it is never
	// sent anywhere.
	Git []GitSetting `json:"-"`
}

// Onto returns the branch on which a task's work lands.
func (p Project) Onto(t Task) string {
	if t.Onto != "" {
		return t.Onto
	}
	return p.Policy.Base
}

// Removal says how a person removes a project.
type Removal struct {
	At    time.Time `json:"at"`
	Force bool      `json:"force,omitempty"` // its open tasks are stopped first
	Purge bool      `json:"purge,omitempty"` // also remove everything that Coppice created for it on disk
	// Problem is why it could not be removed; Coppice retries.
	Problem string `json:"problem,omitempty"`
}
