package coppice

// Queue is a branch of a project on which work lands, one landing after the
// other.
type Queue struct {
	ID        int64  `json:"id"`
	ProjectID int64  `json:"project_id"`
	Branch    string `json:"branch,omitempty"` // empty for the project's base, whatever its policy names
	Tip       string `json:"tip,omitempty"`    // the commit where Coppice last saw the branch, or to which it moved it
	Needs     Needs  `json:"needs,omitempty"`  // what a person must do before the next landing
}
