package agent

// Option is an option of a question, as agents send it.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// maxOptions limits how many options of a question are kept.
const maxOptions = 100

// Choices returns the labels of options and what they mean, for an event. It
// returns no descriptions if no option has one.
func Choices(options []Option) (labels, descriptions []string) {
	described := false
	for _, o := range options[:min(len(options), maxOptions)] {
		labels = append(labels, Clip(o.Label))
		descriptions = append(descriptions, Clip(o.Description))
		described = described || o.Description != ""
	}
	if !described {
		descriptions = nil
	}
	return labels, descriptions
}
