package coppice

// TemplateStat sums up the ended tasks that were created from a template and used a
// model. Tasks that were removed from the history do not count.
type TemplateStat struct {
	Template string `json:"template"`
	// Model is that of the last session that worked on the task, verifiers excluded.
	// If no session has one, it is the task's.
	Model  string `json:"model,omitempty"`
	Tasks  int    `json:"tasks"` // those that were cancelled, too
	Done   int    `json:"done"`
	Failed int    `json:"failed"`

	// Means over the tasks. Cost and turns include the tasks below them.
	CostUSD float64  `json:"cost_usd"`
	Turns   float64  `json:"turns"`
	Took    Duration `json:"took"` // from creation to end
}
