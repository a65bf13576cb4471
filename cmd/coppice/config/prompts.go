package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"unicode/utf8"

	"coppice"
	"coppice/engine"
)

// PromptDir is where a repository has its own prompts, each in a file named
// after its role, such as verify.md.
const PromptDir = engine.PromptDir

// loadPrompts reads the project's own prompts. One that cannot be used is left
// out, and the policy says why: the built-in one does its work.
func loadPrompts(dir string, p *coppice.Policy) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return unreadable(dir, err)
	}
	defer root.Close()
	for _, kind := range engine.PromptKinds {
		name := path.Join(PromptDir, kind+".md")
		text, err := readPrompt(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = engine.CheckPrompt(kind, text)
		}
		if err != nil {
			p.Problems = append(p.Problems, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		if p.Prompts == nil {
			p.Prompts = map[string]string{}
		}
		p.Prompts[kind] = text
	}
	return nil
}

// readPrompt reads one file. No link leads it out of the repository.
func readPrompt(root *os.Root, name string) (string, error) {
	st, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	if !st.Mode().IsRegular() {
		return "", errors.New("it is no plain file")
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() // read only: nothing to lose
	b, err := io.ReadAll(io.LimitReader(f, engine.MaxPrompt+1))
	if err == nil && !utf8.Valid(b) {
		err = errors.New("it is not valid UTF-8")
	}
	return string(b), err
}
