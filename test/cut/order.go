//go:build linux

package cut

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Ref is a moment at which a ref begins to point to a commit.
type Ref struct {
	N    int    // the number of the operation that makes it so
	Path string // of the file
	ID   string
}

// disk follows which files were written and not synced, by their names.
type disk struct {
	files map[string]*written
}

type written struct {
	data  []byte
	dirty bool // it was written after it was last synced
	own   bool // the operations made it
}

func (d *disk) at(name string) *written {
	f := d.files[name]
	if f == nil {
		f = &written{}
		d.files[name] = f
	}
	return f
}

// do follows one operation. Names that a directory's rename moves follow it.
func (d *disk) do(o Op) {
	switch o.Kind {
	case Create:
		f := d.at(o.Path)
		f.own = true
		f.data = nil
	case Write:
		f := d.at(o.Path)
		f.dirty = true
		if at := int(o.At); at >= 0 && at <= len(f.data) {
			f.data = append(f.data[:at:at], o.Data...)
		} else {
			f.data = append(f.data, o.Data...)
		}
	case Copy:
		d.at(o.To).dirty = true
	case Truncate:
		d.at(o.Path).dirty = true
	case Sync:
		d.at(o.Path).dirty = false
		// Git can write many objects and make all of them durable by syncing
		// one more file.
		if strings.HasPrefix(path.Base(o.Path), "bulk_fsync") {
			for _, f := range d.files {
				f.dirty = false
			}
		}
	case Link:
		d.files[o.To] = d.at(o.Path)
	case Rename:
		for name, f := range d.files {
			if name == o.Path || strings.HasPrefix(name, o.Path+"/") {
				delete(d.files, name)
				d.files[o.To+strings.TrimPrefix(name, o.Path)] = f
			}
		}
	case Unlink:
		delete(d.files, o.Path)
	}
}

var (
	refName = regexp.MustCompile(`(^|/)(refs/.+|packed-refs|HEAD)$`)
	id      = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	object  = regexp.MustCompile(`(^|/)objects/(?:([0-9a-f]{2})/([0-9a-f]{38})|pack/[^/]+\.(?:pack|idx))$`)
)

// changes returns the file that the operation is of the kind for, or whose name it
// creates. For other operations it returns "".
func (o Op) changes(k Kind) string {
	switch o.Kind {
	case Rename, Link:
		return o.To
	case k:
		return o.Path
	}
	return ""
}

// Refs lists the moments at which refs change, in order.
func (r *Recording) Refs() []Ref {
	var list []Ref
	d := &disk{files: map[string]*written{}}
	for i, o := range r.Ops {
		d.do(o)
		name := o.changes(Write)
		if name == "" || strings.Contains(name, "/logs/") || strings.HasSuffix(name, ".lock") || !refName.MatchString(name) || d.files[name] == nil {
			continue
		}
		for _, c := range id.FindAllString(string(d.files[name].data), -1) {
			list = append(list, Ref{N: i + 1, Path: name, ID: c})
		}
	}
	return list
}

// Unsynced lists the files of objects below a directory that the first n
// operations made and did not sync. Loose objects are named by their id, packs by their path. Only what
// needed names is looked at; packs always are.
func (r *Recording) Unsynced(n int, dir string, needed map[string]bool) []string {
	d := &disk{files: map[string]*written{}}
	for _, o := range r.Ops[:n] {
		d.do(o)
	}
	var list []string
	for name, f := range d.files {
		m := object.FindStringSubmatch(name)
		if m == nil || !f.own || !f.dirty || dir != "" && !strings.HasPrefix(name, dir+"/") {
			continue
		}
		if m[2] == "" {
			list = append(list, name)
		} else if needed[m[2]+m[3]] {
			list = append(list, m[2]+m[3])
		}
	}
	slices.Sort(list)
	return list
}

// FirstBelow returns the number of the first operation that writes below one of
// the directories, or 0.
func (r *Recording) FirstBelow(dirs ...string) int {
	for i, o := range r.Ops {
		for _, dir := range dirs {
			from, to := strings.HasPrefix(o.Path, dir+"/"), strings.HasPrefix(o.To, dir+"/")
			switch o.Kind {
			case Sync:
			case Copy:
				if to {
					return i + 1
				}
			case Rename, Link:
				if from || to {
					return i + 1
				}
			default:
				if from {
					return i + 1
				}
			}
		}
	}
	return 0
}

// Durable returns the number of the operation that makes a file appear under its
// name, complete and synced, or 0. The name may contain wildcards.
func (r *Recording) Durable(pattern string) int {
	d := &disk{files: map[string]*written{}}
	for i, o := range r.Ops {
		d.do(o)
		name := o.changes(Sync)
		if ok, err := path.Match(pattern, name); err == nil && ok && d.files[name] != nil && !d.files[name].dirty && len(d.files[name].data) > 0 {
			return i + 1
		}
	}
	return 0
}
