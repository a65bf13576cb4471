// Package bounded limits how long a text can become while it is written.
package bounded

import (
	"fmt"
	"io"
	"strings"
)

// Builder builds a text of at most Most bytes. It refuses what does not fit.
type Builder struct {
	strings.Builder
	Most int
}

var _ io.Writer = (*Builder)(nil)

// Write implements io.Writer.
func (b *Builder) Write(p []byte) (int, error) {
	if len(p) > b.Most-b.Len() {
		return 0, fmt.Errorf("it comes out longer than %d bytes", b.Most)
	}
	return b.Builder.Write(p)
}
