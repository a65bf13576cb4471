package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/internal/atomicfile"
)

// The files and folders of other orchestrators.
const (
	File      = ".orchestrator/config.json" // agent-orchestrator of npm
	AOFile    = "agent-orchestrator.yaml"   // AO
	GuidesDir = ".agentorchestr"            // agentorchestr of PyPI
)

// source is a format that can be imported.
type source struct {
	name string // where a repository has it; empty if it is elsewhere
	take func(t *taker, path string) error
}

// sources are the formats, in the order in which they are imported. What an earlier one
// sets is kept.
var sources = []source{
	{File, (*taker).takeConfig},
	{AOFile, (*taker).takeAO},
	{GuidesDir, (*taker).takeGuides},
}

// found is a file or folder to import.
type found struct {
	source
	path string
}

// find returns what to import: the named file, or everything that the repository has.
func find(o Options) ([]found, error) {
	if o.From != "" {
		s, err := formatOf(o.From)
		return []found{{s, o.From}}, err
	}
	var list []found
	var places []string
	for _, s := range sources {
		places = append(places, s.name)
		path := filepath.Join(o.Root, s.name)
		if _, err := os.Stat(path); err == nil {
			list = append(list, found{s, path})
		}
	}
	if len(list) == 0 {
		return nil, coppice.Errorf(coppice.ENotFound, "%s has nothing to import: neither %s", o.Root, strings.Join(places, " nor ")).
			WithFix("name the file, or the repository that has it: coppice import PATH")
	}
	return list, nil
}

// formatOf recognizes a file by its name and its first bytes.
func formatOf(path string) (source, error) {
	st, err := os.Stat(path)
	if err == nil && st.IsDir() && filepath.Base(path) == GuidesDir {
		return source{GuidesDir, (*taker).takeGuides}, nil
	}
	if ext := filepath.Ext(path); ext == ".yaml" || ext == ".yml" {
		return source{AOFile, (*taker).takeAO}, nil
	}
	head := make([]byte, 512)
	if f, err := os.Open(path); err == nil {
		n, _ := f.Read(head)
		head = bytes.TrimSpace(bytes.TrimPrefix(head[:n], []byte("\uFEFF")))
		f.Close()
	}
	switch {
	case bytes.HasPrefix(head, []byte("SQLite format 3")):
		return source{filepath.Base(path), (*taker).takeDatabase}, nil
	case bytes.HasPrefix(head, []byte("[")):
		return source{filepath.Base(path), (*taker).takeTemplates}, nil
	}
	return source{File, (*taker).takeConfig}, nil
}

func names(list []found) string {
	var all []string
	for _, f := range list {
		all = append(all, f.name)
	}
	return strings.Join(all, " and ")
}

// take imports one file. What an earlier file has set is kept.
func (t *taker) take(f found) error {
	before, first := t.out, len(t.lines)
	t.out, t.table, t.label = object{}, nil, nil
	if err := f.take(t, f.path); err != nil {
		return err
	}
	for i, l := range t.lines[first:] {
		if top := topOf(l.To); before[top] != nil {
			t.lines[first+i].Did, t.lines[first+i].Why = Kept, "another imported file has its own "+top
		}
	}
	for top, v := range before {
		t.out[top] = v
	}
	return nil
}

// topOf returns the top-level key of a key of coppice.yaml.
func topOf(key string) string {
	top, _, _ := strings.Cut(strings.ReplaceAll(key, "[", "."), ".")
	return top
}

// takeConfig imports .orchestrator/config.json, and the prompts beside it.
func (t *taker) takeConfig(path string) error {
	b, err := readWhole(path)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\uFEFF"))))
	d.UseNumber()
	t.config = nil
	if err := d.Decode(&t.config); err != nil || t.config == nil {
		return coppice.Errorf(coppice.EInvalid, "%s is not a JSON object: %w", path, err).WithFix("fix the file, then import it again; nothing was imported")
	}
	t.promptFiles(filepath.Dir(path))
	t.table = rules
	t.all()
	return nil
}

// add adds a file of the project, unless the project has one.
func (t *taker) add(key string, v any, to, text, did, why string) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n") + "\n"
	if slices.ContainsFunc(t.files, func(f Output) bool { return f.Path == to }) {
		t.say(key, v, Kept, "", "another setting becomes "+to)
		return
	}
	old, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(to)))
	switch {
	case err == nil && string(old) == text:
		t.say(key, v, Kept, to, "the project has the same file")
	case !errors.Is(err, os.ErrNotExist):
		t.say(key, v, Kept, to, "the project has its own")
	default:
		t.files = append(t.files, Output{to, text})
		t.say(key, v, did, to, why)
	}
}

// writeFiles writes files that do not exist. A symbolic link out of the repository is an
// error.
func writeFiles(root string, files []Output) error {
	if len(files) == 0 {
		return nil
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		return unwritable(root, err)
	}
	defer inside.Close() // nothing was written through it
	for _, f := range files {
		name := filepath.Join(root, filepath.FromSlash(f.Path))
		dir := filepath.Dir(filepath.FromSlash(f.Path))
		err := inside.MkdirAll(dir, 0o755)
		if err == nil {
			_, err = inside.Stat(dir)
		}
		if err != nil {
			return unwritable(name, err)
		}
		if err := atomicfile.Write(name, []byte(f.Text), 0o644); err != nil {
			return unwritable(name, err)
		}
	}
	return nil
}
