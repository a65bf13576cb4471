package control

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"coppice"
	"coppice/api"
	"coppice/internal/disk"
	"coppice/store"
	"coppice/workspace"
)

// Disk measures disk usage.
type Disk struct {
	state    string
	database string
	index    string
	store    store.Store
	spaces   *workspace.Workspaces
	now      func() time.Time
	limits   Limits        // of the history
	looking  chan struct{} // held during a measurement
}

// NewDisk makes a Disk. Database and index are the names of the two databases
// in the state directory.
func NewDisk(state, database, index string, s store.Store, w *workspace.Workspaces, l Limits, now func() time.Time) *Disk {
	return &Disk{state: state, database: database, index: index, store: s, spaces: w, limits: l, now: now, looking: make(chan struct{}, 1)}
}

func (s *Disk) path(name string) string { return filepath.Join(s.state, name) }

// Usage measures disk usage for at most this long, and then returns what it
// has. Only one measurement runs at a time, because each reads many
// directories.
func (s *Disk) Usage(ctx context.Context, within time.Duration) (api.Disk, error) {
	select {
	case s.looking <- struct{}{}:
		defer func() { <-s.looking }()
	case <-ctx.Done():
		return api.Disk{}, context.Cause(ctx)
	}
	out := api.Disk{At: s.now().UTC(), State: s.state, Projects: []api.DiskProject{}, Server: []api.DiskPart{}, Kept: []api.DiskKept{}}
	var projects []coppice.Project
	var output map[int64]int64
	var kept store.Kept
	var events int64
	err := s.store.View(ctx, func(r store.Reader) (err error) {
		if projects, err = r.Projects.All(); err != nil {
			return err
		}
		if output, err = r.Outputs.Sizes(); err != nil {
			return err
		}
		if kept, err = r.History.Kept(); err != nil {
			return err
		}
		first, last, err := r.Log.Bounds()
		events = min(last, last-first+1)
		return err
	})
	if err != nil {
		return out, err
	}
	counting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if out.Free, err = disk.Free(s.state); err != nil {
		return out, err
	}
	if err := s.ofServer(counting, &out); err != nil {
		return out, err
	}
	if err := s.ofHistory(kept, events, &out); err != nil {
		return out, err
	}
	for _, p := range projects {
		own, err := s.ofProject(counting, p, output[p.ID])
		if err != nil {
			return out, err
		}
		out.Projects = append(out.Projects, own)
		out.Total += own.Total
		for _, part := range own.Parts {
			out.Partial = out.Partial || part.Partial
		}
	}
	return out, context.Cause(ctx)
}

// ofServer measures what belongs to no single project.
func (s *Disk) ofServer(ctx context.Context, out *api.Disk) error {
	database := disk.Size{}
	for _, end := range []string{"", "-wal", "-shm"} {
		database = database.Add(disk.Of(ctx, s.path(s.database+end)))
	}
	index := disk.Size{}
	for _, end := range []string{"", "-wal", "-shm"} {
		index = index.Add(disk.Of(ctx, s.path(s.index+end)))
	}
	add := func(what, name string, size disk.Size) {
		out.Server = append(out.Server, part(what, s.path(name), size))
		out.Total += size.Bytes
		out.Partial = out.Partial || size.Partial
	}
	add("database", s.database, database)
	add("search index", s.index, index)
	add(keptBackups, "backups", disk.Of(ctx, s.path("backups")))
	add("sessions", "sessions", disk.Of(ctx, s.path("sessions")))
	known := map[string]bool{s.database: true, s.index: true, "backups": true, "sessions": true, "workspaces": true, "trash": true}
	for _, name := range []string{s.database, s.index} {
		known[name+"-wal"], known[name+"-shm"] = true, true
	}
	entries, err := os.ReadDir(s.state)
	if err != nil {
		return err
	}
	other := disk.Size{}
	for _, e := range entries {
		if !known[e.Name()] {
			other = other.Add(disk.Of(ctx, s.path(e.Name())))
		}
	}
	add("other", "", other)
	return nil
}

// ofHistory compares the size of the history with its limits.
func (s *Disk) ofHistory(kept store.Kept, events int64, out *api.Disk) (err error) {
	if out.Kept, err = s.limits.Kept(); err != nil {
		return err
	}
	for i := range out.Kept {
		switch k := &out.Kept[i]; k.What {
		case keptOutput:
			k.Bytes = kept.Output
		case keptTasks:
			k.Count = int64(kept.Tasks)
		case keptEvents:
			k.Count = events
		case keptBackups:
			for _, part := range out.Server {
				if part.What == k.What {
					k.Bytes, k.Count = part.Bytes, part.Files
				}
			}
		}
	}
	return nil
}

// ofProject measures the files of a project.
func (s *Disk) ofProject(ctx context.Context, p coppice.Project, output int64) (api.DiskProject, error) {
	u, err := s.spaces.Usage(ctx, p.Path)
	if err != nil {
		return api.DiskProject{}, err
	}
	own := api.DiskProject{Prefix: p.Prefix, Total: u.Workspaces.Bytes + u.Repository.Bytes + u.Trash.Bytes}
	own.Parts = []api.DiskPart{
		part("workspaces", u.Dir, u.Workspaces), part("repository", u.Dir, u.Repository), part("trash", s.path("trash"), u.Trash),
		{What: "output", Path: s.path(s.database), Bytes: output, Within: "database"},
	}
	return own, nil
}

func part(what, path string, size disk.Size) api.DiskPart {
	return api.DiskPart{What: what, Path: path, Bytes: size.Bytes, Files: size.Files, Partial: size.Partial}
}
