// Package safeyaml reads YAML that anybody may have written. The library panics on
// some invalid texts, such as a tag without a value. This package returns an error.
package safeyaml

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// Unmarshal reads the first document of a text.
func Unmarshal(data []byte, v any, options ...yaml.DecodeOption) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be read as YAML: %v", r)
		}
	}()
	return yaml.UnmarshalWithOptions(data, v, options...)
}
