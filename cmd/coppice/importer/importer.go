// Package importer imports the settings of another orchestrator: it reads
// .orchestrator/config.json, makes a coppice.yaml from it, and reports for
// every setting whether it was imported, changed or dropped, and why.
//
// The file is untrusted: its size is bounded, nothing in it is run, and a value
// that Coppice would not accept is dropped with the reason.
package importer

import (
	"bytes"
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

// File is where the other orchestrator keeps its settings.
const File = ".orchestrator/config.json"

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
	File    string `json:"file"` // the coppice.yaml
	Text    string `json:"text"` // its text, written or not
	Written bool   `json:"written"`
	Backup  string `json:"backup,omitempty"` // where the previous file is kept
	Lines   []Line `json:"lines"`
}

// Options configures an import.
type Options struct {
	Root   string                 // of the repository
	From   string                 // the file to read; default: File below Root
	Force  bool                   // replace a coppice.yaml
	DryRun bool                   // write nothing
	Branch func(name string) bool // reports whether the branch exists
}

// Run imports. An existing coppice.yaml gets the keys that it lacks, at its
// end, and keeps its own. With Force it is replaced.
func Run(o Options) (Report, error) {
	if o.From == "" {
		o.From = filepath.Join(o.Root, File)
	}
	r := Report{From: o.From, File: filepath.Join(o.Root, config.File)}
	c, err := read(o.From)
	if err != nil {
		return r, err
	}
	t := &taker{config: c, root: o.Root, branch: o.Branch}
	t.all()
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
	r.Lines = t.lines
	r.Text = t.yaml(extend, string(old))
	if _, err := config.Parse(config.File, []byte(r.Text)); err != nil {
		return r, fmt.Errorf("importer: its own output cannot be parsed: %w", err) // a bug, and nothing was written
	}
	if o.DryRun || extend && r.Text == string(old) {
		return r, nil
	}
	if there && !extend {
		if r.Backup, err = backUp(r.File, old); err != nil {
			return r, err
		}
	}
	if err := atomicfile.Write(r.File, []byte(r.Text), 0o644); err != nil {
		return r, coppice.Errorf(coppice.EUnavailable, "%s cannot be written: %w", r.File, err).WithFix("make the folder writable, or free some disk")
	}
	r.Written = true
	return r, nil
}

// read reads the other orchestrator's settings.
func read(name string) (map[string]any, error) {
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
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\uFEFF"))))
	d.UseNumber()
	var c map[string]any
	if err := d.Decode(&c); err != nil || c == nil {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not a JSON object: %w", name, err).WithFix("fix the file, then import it again; nothing was imported")
	}
	return c, nil
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
		top, _, _ := strings.Cut(strings.ReplaceAll(l.To, "[", "."), ".")
		if top != "" && set[top] {
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
var order = []string{"base", "features", "instructions", "progress", "agent", "tracks", "workspace", "verify", "critical_patterns"}

// yaml writes the file, or the part that is appended to an existing one.
func (t *taker) yaml(extend bool, old string) string {
	var b strings.Builder
	if extend {
		if b.WriteString(old); len(t.out) == 0 {
			return old
		}
		if old != "" && !strings.HasSuffix(old, "\n") {
			b.WriteString("\n")
		}
		b.WriteString("\n# Imported from " + File + ".\n")
	} else {
		b.WriteString("# What Coppice does in this repository, imported from " + File + ". `coppice config` shows every key.\n")
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
