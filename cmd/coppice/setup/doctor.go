package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"coppice/control/agents"
)

// Level says how bad a row is.
type Level string

// The levels of a row.
const (
	OK   Level = "ok"
	Warn Level = "warn" // works, with limits
	Fail Level = "fail" // Coppice does not work
)

// Row is one thing that the doctor checked.
type Row struct {
	Name   string `json:"name"`
	Level  Level  `json:"level"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // empty if all is well; one line per fix

	Took time.Duration `json:"took,omitempty"` // of something that was tried, in nanoseconds
}

// Report is everything that the doctor found.
type Report struct {
	Rows   []Row          `json:"rows"`
	Agents []agents.Agent `json:"agents,omitempty"` // with all details
}

// Failed returns the names of the rows that failed, each one time.
func (r Report) Failed() (names []string) {
	for _, row := range r.Rows {
		if row.Level == Fail && !slices.Contains(names, row.Name) {
			names = append(names, row.Name)
		}
	}
	return names
}

// Exit is the exit code of `coppice doctor`.
func (r Report) Exit() int { return min(1, len(r.Failed())) }

// Ability is something that the operating system allows or does not allow.
type Ability struct {
	Name   string
	OK     bool
	Detail string
}

// Machine is what the doctor checks. It skips what is nil or zero.
type Machine struct {
	StateDir  string
	Git       func(ctx context.Context, dir string, args ...string) (string, error)
	Abilities func(ctx context.Context) []Ability
	Agents    func(ctx context.Context) []agents.Agent
	Project   func(ctx context.Context) *Project // in the working directory; nil outside of one
	Tries     *Tries                             // what is tried; nil to try nothing
	Browser   func(ctx context.Context) *Browser // of its verifiers; nil if they use none
	Secrets   func(ctx context.Context) []Secret // that the project uses
	Database  func(ctx context.Context) []Row    // whether it is sound, and how much of the history is kept
	LookPath  func(name string) (string, error)  // exec.LookPath when nil
	Limits    func(dir string) (Limits, error)   // this machine's when nil
}

// Browser is the browser that verifiers use.
type Browser struct {
	Detail  string // its parts
	Problem string // why it cannot be used
	Fix     string
}

// Secret is a secret that the project uses.
type Secret struct {
	Name    string
	Detail  string // where its value comes from
	Problem string // why it cannot be resolved
	Fix     string
}

// Limits are the limits of the machine.
type Limits struct {
	DiskFree   uint64
	Memory     uint64
	OpenFiles  uint64
	FileSystem string // its name, empty when unknown
	Note       string // a warning about it
}

// What Coppice needs.
const (
	gitMajor, gitMinor = 2, 38 // the first with merge-tree --write-tree
	leastDisk          = 200 << 20
	goodDisk           = 2 << 30
	goodMemory         = 2 << 30
	goodOpenFiles      = 4096
)

// Doctor checks the machine. It changes nothing, except that it creates and
// removes a file in the state directory.
func Doctor(ctx context.Context, m Machine) Report {
	if m.LookPath == nil {
		m.LookPath = exec.LookPath
	}
	if m.Limits == nil {
		m.Limits = limits
	}
	r := Report{}
	if m.Agents != nil {
		r.Agents = m.Agents(ctx)
	}
	var project *Project
	if m.Project != nil {
		project = m.Project(ctx)
	}
	var rows []Row
	if project != nil {
		rows = append(rows, project.rows()...)
		rows = append(rows, project.agentRows(r.Agents)...)
		if m.Tries != nil {
			rows = append(rows, m.Tries.try(ctx, *project)...)
		}
	}
	rows = append(rows, m.git(ctx))
	rows = append(rows, m.project(ctx)...)
	rows = append(rows, m.state()...)
	rows = append(rows, m.limits()...)
	if m.Abilities != nil {
		for _, a := range m.Abilities(ctx) {
			rows = append(rows, ability(a))
		}
	}
	rows = append(rows, m.tmux())
	if m.Database != nil {
		rows = append(rows, m.Database(ctx)...)
	}
	if m.Agents != nil {
		rows = append(rows, otherAgents(r.Agents, project)...)
	}
	r.Rows = rows
	return r
}

// project returns what the project needs besides its agents and its checks.
func (m Machine) project(ctx context.Context) (rows []Row) {
	if m.Browser != nil {
		if b := m.Browser(ctx); b != nil {
			rows = append(rows, browser(*b))
		}
	}
	if m.Secrets != nil {
		for _, s := range m.Secrets(ctx) {
			rows = append(rows, secret(s))
		}
	}
	return rows
}

var gitVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+)\.(\d+)(?:\.\d+)*`) })

func (m Machine) git(ctx context.Context) Row {
	row := Row{Name: "git", Level: Fail, Fix: fmt.Sprintf("install git %d.%d or newer", gitMajor, gitMinor)}
	out, err := m.Git(ctx, ".", "version")
	if err != nil {
		row.Detail = "cannot be run"
		return row
	}
	v := gitVersion().FindStringSubmatch(out)
	if v == nil {
		row.Detail = "reports no version: " + strconv.Quote(strings.TrimSpace(out))
		return row
	}
	row.Detail = v[0]
	major, _ := strconv.Atoi(v[1]) // digits by the pattern
	minor, _ := strconv.Atoi(v[2])
	if major > gitMajor || (major == gitMajor && minor >= gitMinor) {
		row.Level, row.Fix = OK, ""
		return row
	}
	row.Detail += " is too old: it cannot merge without a checkout"
	return row
}

// state checks the state directory, or the nearest existing directory above it.
func (m Machine) state() []Row {
	if m.StateDir == "" {
		return nil
	}
	row := Row{Name: "state directory", Level: OK, Detail: m.StateDir}
	info, err := os.Stat(m.StateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		row.Detail += " (will be created)"
	case err != nil:
		row.Level, row.Detail, row.Fix = Fail, fmt.Sprintf("%s: %v", m.StateDir, errors.Unwrap(err)), "make it readable for the user who runs coppice"
		return []Row{row}
	case !info.IsDir():
		row.Level, row.Detail, row.Fix = Fail, m.StateDir+" is not a directory", "move it to another place"
		return []Row{row}
	case info.Mode().Perm()&0o077 != 0:
		row.Level, row.Detail = Warn, fmt.Sprintf("%s is open to other users (%v)", m.StateDir, info.Mode().Perm())
		row.Fix = "chmod 700 " + m.StateDir
	}
	dir := existing(m.StateDir)
	f, err := os.CreateTemp(dir, ".coppice-doctor-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		row.Level, row.Detail, row.Fix = Fail, dir+" cannot be written", "make it writable, or set XDG_STATE_HOME to a writable directory"
	}
	return []Row{row}
}

// existing returns the directory itself or the nearest existing one above it.
func existing(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}

func (m Machine) limits() []Row {
	dir := "."
	if m.StateDir != "" {
		dir = existing(m.StateDir)
	}
	l, err := m.Limits(dir)
	if err != nil {
		return []Row{{Name: "machine", Level: Warn, Detail: "its limits cannot be read: " + err.Error(), Fix: "check disk, memory and open files yourself"}}
	}
	disk := Row{Name: "free disk", Level: OK, Detail: size(l.DiskFree)}
	switch {
	case l.DiskFree < leastDisk:
		disk.Level, disk.Fix = Fail, "free at least "+size(leastDisk)
	case l.DiskFree < goodDisk:
		disk.Level, disk.Fix = Warn, "free some more: every workspace is a separate checkout"
	}
	memory := Row{Name: "memory", Level: OK, Detail: size(l.Memory)}
	if l.Memory < goodMemory {
		memory.Level, memory.Fix = Warn, "set limits.sessions to 1 or 2"
	}
	files := Row{Name: "open files", Level: OK, Detail: strconv.FormatUint(l.OpenFiles, 10)}
	if l.OpenFiles > 1<<40 {
		files.Detail = "unlimited"
	}
	if l.OpenFiles < goodOpenFiles {
		files.Level, files.Fix = Warn, fmt.Sprintf("raise the limit: ulimit -n %d", goodOpenFiles)
	}
	rows := []Row{disk, memory, files}
	if l.FileSystem != "" {
		row := Row{Name: "file system", Level: OK, Detail: l.FileSystem}
		if l.Note != "" {
			row.Level, row.Detail, row.Fix = Warn, l.FileSystem+": "+l.Note, "keep the state on another file system, or keep backups"
		}
		rows = append(rows, row)
	}
	return rows
}

func ability(a Ability) Row {
	if a.OK {
		return Row{Name: a.Name, Level: OK, Detail: a.Detail}
	}
	return Row{Name: a.Name, Level: Warn, Detail: a.Detail, Fix: "Coppice works without it on " + runtime.GOOS + ", but might miss processes that an agent left behind"}
}

// browser fails without a browser: every verification of a project with
// verify.browser would fail.
func browser(b Browser) Row {
	if b.Problem != "" {
		return Row{Name: "browser", Level: Fail, Detail: b.Problem, Fix: b.Fix}
	}
	return Row{Name: "browser", Level: OK, Detail: b.Detail}
}

// secret fails if a secret cannot be resolved: every session of the project
// would fail.
func secret(s Secret) Row {
	if s.Problem != "" {
		return Row{Name: "secret " + s.Name, Level: Fail, Detail: s.Problem, Fix: s.Fix}
	}
	return Row{Name: "secret " + s.Name, Level: OK, Detail: s.Detail}
}

func (m Machine) tmux() Row {
	if _, err := m.LookPath("tmux"); err != nil {
		return Row{Name: "tmux", Level: OK, Detail: "not installed; Coppice does not need it"}
	}
	return Row{Name: "tmux", Level: OK, Detail: "installed"}
}

func size(n uint64) string {
	const unit = 1 << 10
	if n < unit {
		return strconv.FormatUint(n, 10) + " B"
	}
	f, i := float64(n)/unit, 0
	for ; f >= unit && i < 4; i++ {
		f /= unit
	}
	return fmt.Sprintf("%.1f %ciB", f, "KMGTP"[i])
}

// Print writes the report: a table for people, or JSON for programs.
func (r Report) Print(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	wide := 0
	for _, row := range r.Rows {
		wide = max(wide, len(row.Name))
	}
	var b strings.Builder
	for _, row := range r.Rows {
		detail := row.Detail
		if row.Took > 0 {
			detail = seconds(row.Took) + "  " + detail
		}
		fmt.Fprintf(&b, "%-4s  %-*s  %s\n", row.Level, wide, row.Name, detail)
		if row.Level != OK && row.Fix != "" {
			for line := range strings.SplitSeq(row.Fix, "\n") {
				fmt.Fprintf(&b, "%*s  -> %s\n", wide+6, "", line)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
