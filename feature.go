package coppice

// FeatureTask is what a feature of a features file says about its task.
type FeatureTask struct {
	DependsOn []string `json:"depends_on,omitempty"`
	Priority  int      `json:"priority,omitempty"`
	Agent     string   `json:"agent,omitempty"`
	Model     string   `json:"model,omitempty"`
	Budget    USD      `json:"budget,omitempty"`
}
