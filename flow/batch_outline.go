package flow

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Outline implements Kind. Each item is a part, after the items that it names.
func (batchKind) Outline(v View) ([]Part, error) {
	var spec BatchSpec
	if err := json.Unmarshal(v.Spec, &spec); err != nil {
		return nil, fmt.Errorf("flow: the spec of %s: %w", v.Key, err)
	}
	refs := spec.refs()
	parts := make([]Part, len(spec.Tasks))
	for n, t := range spec.Tasks {
		parts[n] = Part{Key: strconv.Itoa(n + 1), Name: t.Title, Agent: t.Agent}
		for _, name := range t.After {
			if m, ok := refs[name]; ok {
				parts[n].After = append(parts[n].After, strconv.Itoa(m+1))
			}
		}
	}
	for _, s := range v.Steps {
		head, _, _ := strings.Cut(s.Key, "/")
		if n, err := strconv.Atoi(head); err == nil && n >= 1 && n <= len(parts) {
			parts[n-1].ran(s.Key)
		}
	}
	return parts, nil
}
