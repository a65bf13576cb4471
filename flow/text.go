package flow

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"
	"text/template"

	"coppice"
)

//go:embed prompts/*.md
var prompts embed.FS

// text writes a prompt of a step: from the project's own text if it has one, or from
// the built-in one.
func (v View) text(name string, data any) (string, error) {
	text := v.Prompts["flow-"+name]
	if text == "" {
		b, err := prompts.ReadFile("prompts/" + name + ".md")
		if err != nil {
			return "", fmt.Errorf("flow: the prompt %s: %w", name, err)
		}
		text = string(b)
	}
	t, err := template.New(name + ".md").Parse(text)
	if err != nil {
		return "", coppice.Errorf(coppice.EInvalid, "the prompt flow-%s cannot be used: %w", name, err).WithFix("fix it, or remove the file")
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", coppice.Errorf(coppice.EInvalid, "the prompt flow-%s cannot be used: %w", name, err).WithFix("fix it, or remove the file")
	}
	return strings.TrimSpace(b.String()) + "\n", nil
}

// fence marks a text as data that an agent must not obey. The marks depend on the
// text, so no text can contain its own mark.
func fence(label, text string) string {
	sum := sha256.Sum256([]byte(text))
	mark := "data-" + hex.EncodeToString(sum[:8])
	return fmt.Sprintf("%s:\n<%s>\n%s\n</%s>\n", label, mark, strings.TrimRight(text, "\n"), mark)
}
