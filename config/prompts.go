package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"coppice"
	"coppice/prompt"
)

// PromptDir is where a repository has its own prompts, each in a file named
// after its role, such as verify.md.
const PromptDir = ".coppice/prompts"

// Files names all files of a checkout that make up its policy.
func Files() []string {
	files := []string{File}
	for _, kind := range prompt.Kinds {
		files = append(files, path.Join(PromptDir, kind+".md"))
	}
	return files
}

// loadPrompts reads the project's own prompts. If one cannot be used, the
// policy says why, and the built-in one is used.
func loadPrompts(dir string, p *coppice.Policy) error {
	if _, err := os.ReadDir(dir); err != nil {
		return unreadable(dir, err)
	}
	for _, kind := range prompt.Kinds {
		name := path.Join(PromptDir, kind+".md")
		text, err := readPrompt(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = prompt.Check(kind, text)
		}
		if err != nil {
			p.Problems = append(p.Problems, fmt.Sprintf("%s: %s", name, strings.TrimPrefix(err.Error(), name+" ")))
			continue
		}
		if p.Prompts == nil {
			p.Prompts = map[string]string{}
		}
		p.Prompts[kind] = text
	}
	return nil
}

// readPrompt reads one file. It follows no link out of the repository.
func readPrompt(dir, name string) (string, error) {
	b, err := readFile(dir, name, prompt.Max)
	if err == nil && !utf8.Valid(b) {
		err = coppice.Errorf(coppice.EInvalid, "it is not valid UTF-8")
	}
	return string(b), err
}
