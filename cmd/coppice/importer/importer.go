// Package importer imports the settings of other orchestrators. It reads their
// files, writes a coppice.yaml, prompts and other files of a project, and reports for
// every setting whether it was imported, changed or dropped, and why. sources lists
// the formats.
//
// The files are untrusted: their size is bounded, nothing in them is run, and a value
// that Coppice would not accept is dropped with the reason.
package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"coppice"
	"coppice/config"
	"coppice/internal/atomicfile"
)

// maxSize bounds what is read.
const maxSize = 1 << 20

// What became of a setting.
const (
	Took    = "took"
	Changed = "changed"
	Dropped = "dropped"
	Kept    = "kept" // coppice.yaml has its own
)

// Line reports what became of one setting.
type Line struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"`
	Did   string          `json:"did"`
	To    string          `json:"to,omitempty"` // the key of coppice.yaml
	Why   string          `json:"why,omitempty"`
}

// Report is the whole outcome.
type Report struct {
	From    string `json:"from"`
	File    string `json:"file"`             // the coppice.yaml
	Text    string `json:"text"`             // its text, written or not
	Written bool   `json:"written"`          // coppice.yaml was written
	Backup  string `json:"backup,omitempty"` // where the previous file is kept
	Lines   []Line `json:"lines"`
	// Sources are all files that were read; From is the first.
	Sources []string `json:"sources"`
	Files   []Output `json:"files,omitempty"` // besides coppice.yaml
}

// Output is a file of the project that the import writes, besides coppice.yaml. It
// never replaces a file that exists.
type Output struct {
	Path string `json:"path"` // in the repository
	Text string `json:"text"`
}

// Options configures an import.
type Options struct {
	Root   string                 // of the repository
	From   string                 // the file or folder to read; default: all of sources that Root has
	Name   string                 // the project to import, if the file has several
	Force  bool                   // replace a coppice.yaml
	DryRun bool                   // write nothing
	Branch func(name string) bool // reports whether the branch exists
}

// Run imports. An existing coppice.yaml gets the keys that it lacks, at its
// end, and keeps its own. With Force it is replaced.
func Run(o Options) (Report, error) {
	r := Report{From: o.From, File: filepath.Join(o.Root, config.File)}
	found, err := find(o)
	if err != nil {
		return r, err
	}
	t := &taker{root: o.Root, branch: o.Branch, project: o.Name, out: object{}}
	for _, f := range found {
		r.Sources = append(r.Sources, f.path)
		if err := t.take(f); err != nil {
			return r, err
		}
	}
	r.From = r.Sources[0]
	maps.DeleteFunc(t.out, func(_ string, v any) bool { return empty(v) })
	old, there, err := existing(o.Root)
	if err != nil {
		return r, err
	}
	extend := there && !o.Force
	if extend {
		if err := t.keep(old); err != nil {
			return r, err
		}
	}
	r.Lines, r.Files = t.lines, t.files
	if there || len(t.out) > 0 {
		r.Text = t.yaml(extend, string(old), names(found))
	}
	if _, err := config.Parse(config.File, []byte(r.Text)); err != nil {
		return r, fmt.Errorf("importer: its own output cannot be parsed: %w", err) // a bug, and nothing was written
	}
	if o.DryRun {
		return r, nil
	}
	if err := writeFiles(o.Root, r.Files); err != nil {
		return r, err
	}
	if r.Text == "" || extend && r.Text == string(old) {
		return r, nil
	}
	if there && !extend {
		if r.Backup, err = backUp(r.File, old); err != nil {
			return r, err
		}
	}
	if err := atomicfile.Write(r.File, []byte(r.Text), 0o644); err != nil {
		return r, unwritable(r.File, err)
	}
	r.Written = true
	return r, nil
}

func unwritable(name string, err error) error {
	return coppice.Errorf(coppice.EUnavailable, "%s cannot be written: %w", name, err).WithFix("make the folder writable, or free some disk")
}

// readWhole reads a small regular file.
func readWhole(name string) ([]byte, error) {
	st, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, coppice.Errorf(coppice.ENotFound, "%s does not exist", name).WithFix("name the file, or the repository that has it: coppice import PATH")
	case err != nil:
		return nil, coppice.Errorf(coppice.EInvalid, "%s cannot be read: %w", name, err)
	case !st.Mode().IsRegular() || st.Size() > maxSize:
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not a file of at most %d bytes", name, maxSize).WithFix("name the file to import")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, coppice.Errorf(coppice.EInvalid, "%s cannot be read: %w", name, err)
	}
	defer f.Close() // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err != nil {
		return nil, coppice.Errorf(coppice.EInvalid, "%s cannot be read: %w", name, err)
	}
	return b, nil
}

// existing reads the coppice.yaml of a repository, if it has one.
func existing(root string) (text []byte, there bool, err error) {
	text, err = config.Read(root)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil && len(text) > config.MaxSize {
		return nil, true, coppice.Errorf(coppice.EInvalid, "%s is too large", config.File)
	}
	return text, err == nil, err
}

// keep drops the settings that a coppice.yaml already has.
func (t *taker) keep(old []byte) error {
	set, err := topKeys(old)
	if err != nil {
		return err
	}
	for i, l := range t.lines {
		if top := topOf(l.To); top != "" && set[top] {
			t.lines[i].Did, t.lines[i].Why = Kept, config.File+" has its own "+top
		}
	}
	for top := range set {
		delete(t.out, top)
	}
	return nil
}

// topKeys returns the top-level keys of a valid coppice.yaml.
func topKeys(text []byte) (map[string]bool, error) {
	if _, err := config.Parse(config.File, text); err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if key, _, ok := strings.Cut(line, ":"); ok && key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") == "" {
			set[key] = true
		}
	}
	return set, nil
}

// order is the order of the keys in coppice.yaml.
var order = []string{"base", "features", "instructions", "progress", "agent", "permissions", "tracks", "workspace", "verify", "health", "land", "critical_patterns"}

// yaml writes the file, or the part that is appended to an existing one.
func (t *taker) yaml(extend bool, old, from string) string {
	var b strings.Builder
	if extend {
		if b.WriteString(old); len(t.out) == 0 {
			return old
		}
		if old != "" && !strings.HasSuffix(old, "\n") {
			b.WriteString("\n")
		}
		b.WriteString("\n# Imported from " + from + ".\n")
	} else {
		b.WriteString("# What Coppice does in this repository, imported from " + from + ". `coppice config` shows every key.\n")
	}
	for _, key := range order {
		if v, ok := t.out[key]; ok {
			writeYAML(&b, "", key, v)
		}
	}
	return b.String()
}

// writeYAML writes a key and its value: a text, a number, a list of texts, a
// list of objects or an object. Keys of objects keep the order of their names.
func writeYAML(b *strings.Builder, indent, key string, v any) {
	switch v := v.(type) {
	case []string:
		fmt.Fprintf(b, "%s%s:\n", indent, key)
		for _, s := range v {
			fmt.Fprintf(b, "%s  - %s\n", indent, config.Scalar(s))
		}
	case []object:
		fmt.Fprintf(b, "%s%s:\n", indent, key)
		for _, o := range v {
			var item strings.Builder
			for _, k := range o.keys() {
				writeYAML(&item, indent+"    ", k, o[k])
			}
			text := item.String()
			fmt.Fprintf(b, "%s  - %s", indent, strings.TrimPrefix(text, indent+"    "))
		}
	case object:
		fmt.Fprintf(b, "%s%s:\n", indent, key)
		for _, k := range v.keys() {
			writeYAML(b, indent+"  ", k, v[k])
		}
	case string:
		fmt.Fprintf(b, "%s%s: %s\n", indent, key, config.Scalar(v))
	default:
		fmt.Fprintf(b, "%s%s: %v\n", indent, key, v)
	}
}

// empty reports whether an object has no keys.
func empty(v any) bool {
	o, ok := v.(object)
	return ok && len(o) == 0
}

// object is a YAML mapping.
type object map[string]any

// keys lists the keys, with names and selectors first.
func (o object) keys() []string {
	var keys []string
	for k := range o {
		keys = append(keys, k)
	}
	first := []string{"name", "match", "use", "service", "by"}
	rank := func(k string) int {
		if i := slices.Index(first, k); i >= 0 {
			return i
		}
		return len(first)
	}
	sort.Slice(keys, func(i, j int) bool {
		if a, b := rank(keys[i]), rank(keys[j]); a != b {
			return a < b
		}
		return keys[i] < keys[j]
	})
	return keys
}

// backUp writes a copy under a free name.
func backUp(name string, text []byte) (string, error) {
	for n := 0; n < 100; n++ {
		to := name + ".bak"
		if n > 0 {
			to = fmt.Sprintf("%s.%d", to, n)
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(text)
		return to, errors.Join(err, f.Sync(), f.Close())
	}
	return "", coppice.Errorf(coppice.EConflict, "there are too many copies of %s", name).WithFix("remove some")
}
