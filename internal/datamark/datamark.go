// Package datamark puts marks around text that a reader must take as data, never as
// instructions. The marks depend on the text: the same text always has the same
// marks, and no text can contain its own.
package datamark

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Block returns a text between marks, each on its own line.
func Block(text string) string {
	name := mark(text)
	return fmt.Sprintf("<%s>\n%s\n</%s>\n", name, strings.TrimRight(text, "\n"), name)
}

// Inline returns a text between marks on the same line.
func Inline(text string) string {
	name := mark(text)
	return fmt.Sprintf("<%s>%s</%s>", name, text, name)
}

func mark(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "data-" + hex.EncodeToString(sum[:8])
}
