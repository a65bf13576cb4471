package api

import "coppice"

// FeatureList is a project's features file, with the task of each feature.
type FeatureList struct {
	Project  string        `json:"project"`
	File     string        `json:"file" doc:"Its name in the checkout; empty if the project has none"`
	Path     string        `json:"path,omitempty" doc:"Its path"`
	Revision string        `json:"revision,omitempty" doc:"Identifies the file's current text; send it with a change"`
	Outdated bool          `json:"outdated,omitempty" doc:"The file cannot be read; the features are those of its last valid text, which is in effect"`
	Features []Feature     `json:"features"`
	Problems []FileProblem `json:"problems" doc:"Why the file, or a part of it, is not in effect"`
}

// FeatureFailed is the status of a feature that failed.
const FeatureFailed = "failed"

// Feature is one entry of the features file.
type Feature struct {
	ID          string   `json:"id"`
	Line        int      `json:"line" doc:"The line of the file on which it starts; 0 if the list is outdated"`
	Category    string   `json:"category,omitempty"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Steps       []string `json:"steps,omitempty"`
	Status      string   `json:"status" enum:"open,verifying,passed,failed"`
	Reason      string   `json:"failure_reason,omitempty" doc:"Why it failed"`
	Failure     string   `json:"failure_category,omitempty" doc:"What kind of failure it is"`
	Progress    string   `json:"progress,omitempty"`
	coppice.FeatureTask
	Track     string `json:"track" doc:"The track of its category"`
	Task      *Task  `json:"task,omitempty" doc:"Its newest task"`
	CanReopen bool   `json:"can_reopen,omitempty" doc:"It failed, and has no task that could be retried: the status open retries it"`
}

// FileProblem is a problem of a file, with its position if it has one.
type FileProblem struct {
	Text   string `json:"text"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// FeatureChange sets fields of a feature in the file. An absent field stays as
// it is, and an empty one is removed.
type FeatureChange struct {
	Category    *string      `json:"category,omitempty" maxLength:"200"`
	Name        *string      `json:"name,omitempty" maxLength:"500"`
	Description *string      `json:"description,omitempty"`
	Steps       *[]string    `json:"steps,omitempty"`
	Status      *string      `json:"status,omitempty" enum:"open,passed,failed" doc:"open retries a feature that failed"`
	DependsOn   *[]string    `json:"depends_on,omitempty" doc:"Ids of features that must have passed first"`
	Priority    *int         `json:"priority,omitempty" minimum:"-10" maximum:"10"`
	Agent       *string      `json:"agent,omitempty" maxLength:"64"`
	Model       *string      `json:"model,omitempty" maxLength:"64"`
	Budget      *coppice.USD `json:"budget,omitempty"`
}
