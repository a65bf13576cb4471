package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) noteCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "note", Short: "Read and write notes that agents and people share",
		Long: `A note is a text under a key, such as plan/step-1. The sessions of a project and people
read and write it. With --task, a note belongs to a task and is removed with it.
A note has a version, which changes with every write. With --if-version, a note is
written only if nobody has changed it since you read it.`,
		Example: "  coppice note list\n  coppice note set plan \"First the parser\"\n  coppice note get plan\n  coppice note watch build/state --until-value green",
	}
	c.AddCommand(e.noteList(), e.noteGet(), e.noteSet(), e.noteDelete(), e.noteWatch())
	return c
}

// noteFlags say where notes are.
type noteFlags struct{ project, task string }

func addNoteFlags(c *cobra.Command) *noteFlags {
	f := &noteFlags{}
	c.Flags().StringVarP(&f.project, "project", "p", "", "a project's prefix; the default is that of --task, or the current directory's")
	c.Flags().StringVar(&f.task, "task", "", "the key of a task: notes of this task")
	return f
}

// prefix returns the project that the flags mean.
func (f *noteFlags) prefix(ctx context.Context, e *Env, cl *client.Client) (string, error) {
	if of, num, _, err := coppice.ParseKey(f.task); f.project == "" && err == nil && num > 0 {
		return of, nil
	}
	return e.named(ctx, cl, names(f.project))
}

// versionFlag adds --if-version. The result is nil if it is not given.
func versionFlag(c *cobra.Command, about string) func() *int64 {
	v := c.Flags().Int64("if-version", 0, about)
	return func() *int64 {
		if !c.Flags().Changed("if-version") {
			return nil
		}
		return v
	}
}

func (e *Env) noteList() *cobra.Command {
	var q client.NoteQuery
	c := &cobra.Command{
		Use: "list [PREFIX]", Short: "List notes", Long: "List the notes of a project or a task, sorted by key, or only those whose keys start with PREFIX.",
		Example: "  coppice note list\n  coppice note list plan/ --task app-4\n  coppice note list --all --json", Args: args(0, 1, "the beginning of keys"),
	}
	at := addNoteFlags(c)
	c.Flags().BoolVarP(&q.All, "all", "a", false, "notes of the project and of all its tasks")
	c.Flags().StringVar(&q.After, "after", "", "the next page: the text that the previous page printed")
	c.Flags().IntVarP(&q.Limit, "limit", "n", 100, "at most this many notes, up to 1000")
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (api.NotePage, error) {
		project, err := at.prefix(ctx, e, cl)
		if err != nil {
			return api.NotePage{}, err
		}
		q.Task, q.Prefix = at.task, strings.Join(given, "")
		return cl.Notes(ctx, project, q)
	}, func(page api.NotePage) {
		listed(e, "no notes", page.Notes, []column{{head: "KEY"}, {head: "TASK"}, {head: "VERSION", end: true}, {head: "BYTES", end: true}, {head: "AGE", end: true}, {head: "BY", give: true}}, func(n api.Note) []cell {
			return []cell{{n.Key, bold}, plain(n.Task), plain(itoa(n.Version)), plain(itoa(n.Size)), {ago(e.Now().Sub(n.UpdatedAt)), dim}, plain(n.By)}
		})
		if page.Next != "" {
			e.printf("%s\n", e.paint(dim, "more notes: add --after "+coppice.Quote(page.Next)))
		}
	})
}

func (e *Env) noteGet() *cobra.Command {
	c := &cobra.Command{
		Use: "get KEY", Short: "Print a note", Long: "Print the value of a note. To a pipe or file it is exact. --json adds its version.",
		Example: "  coppice note get plan\n  coppice note get plan --json", Args: args(1, 1, "the key of a note"),
	}
	at := addNoteFlags(c)
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (n api.Note, err error) {
		project, err := at.prefix(ctx, e, cl)
		if err != nil {
			return n, err
		}
		return cl.Note(ctx, project, at.task, given[0])
	}, func(n api.Note) {
		if e.Terminal {
			e.printf("%s\n", strings.TrimSuffix(Clean(n.Value), "\n"))
			return
		}
		e.printf("%s", n.Value) // exact, for programs
	})
}

func (e *Env) noteSet() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "set KEY [VALUE]", Short: "Write a note",
		Long: `Write a note: a text of at most 256 KiB from the argument, from --file, or from stdin
if there is neither. Secrets in it are masked.`,
		Example: "  coppice note set plan \"First the parser\"\n  coppice note set plan --file plan.md --if-version 7\n  git log -5 | coppice note set recent", Args: args(1, 2, "a key and a value"),
	}
	at := addNoteFlags(c)
	c.Flags().StringVar(&file, "file", "", "read the value from a file; - is stdin")
	version := versionFlag(c, "write only if the note has this version; 0 means only if it does not exist")
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (n api.Note, err error) {
		if len(given) == 2 && file != "" {
			return n, wrongUse("a value and --file were both given", "use one of them")
		}
		var w api.NoteWrite
		if len(given) == 2 {
			w.Value = given[1]
		} else {
			if file == "" {
				file = "-"
			}
			b, err := e.readFile(file, coppice.MaxNoteValue)
			if err != nil {
				return n, err
			}
			w.Value = string(b)
		}
		w.IfVersion = version()
		project, err := at.prefix(ctx, e, cl)
		if err != nil {
			return n, err
		}
		return cl.PutNote(ctx, project, at.task, given[0], w)
	}, func(n api.Note) { e.printf("%s  version %d\n", e.paint(bold, line(n.Key)), n.Version) })
}

func (e *Env) noteDelete() *cobra.Command {
	c := &cobra.Command{
		Use: "delete KEY", Short: "Delete a note", Long: "Delete a note.",
		Example: "  coppice note delete plan\n  coppice note delete plan --if-version 7", Args: args(1, 1, "the key of a note"),
	}
	at := addNoteFlags(c)
	version := versionFlag(c, "delete only if the note has this version")
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (n api.Note, err error) {
		project, err := at.prefix(ctx, e, cl)
		if err != nil {
			return n, err
		}
		return cl.DeleteNote(ctx, project, at.task, given[0], version())
	}, func(n api.Note) { e.printf("%s  deleted\n", e.paint(bold, line(n.Key))) })
}

func (e *Env) noteWatch() *cobra.Command {
	w := &noteWaiter{}
	c := &cobra.Command{
		Use: "watch [KEY…]", Short: "Wait for notes",
		Long: `Wait until all keys have a note, or with --prefix at least one key that starts with it,
and print these notes. With --until-value, wait until they have this value. The exit
code is 124 if --timeout is over. The server reports each change, so the command waits
without asking again.`,
		Example: "  coppice note watch build/state --until-value green --timeout 10m\n  coppice note watch --prefix results/", Args: args(0, -1, "keys of notes"),
	}
	at := addNoteFlags(c)
	c.Flags().StringVar(&w.prefix, "prefix", "", "wait for one key that starts with this")
	c.Flags().StringVar(&w.value, "until-value", "", "wait until they have this value")
	c.Flags().DurationVar(&w.timeout, "timeout", 0, "wait at most this long, such as 90s or 2h (0: no limit)")
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (page api.NotePage, err error) {
		if (len(given) == 0) == (w.prefix == "") {
			return page, wrongUse("the command needs keys or --prefix", "write coppice note watch KEY, or --prefix PREFIX; see all changes with coppice events -f")
		}
		w.cl, w.task, w.keys, w.valued = cl, at.task, given, c.Flags().Changed("until-value")
		if w.project, err = at.prefix(ctx, e, cl); err != nil {
			return page, err
		}
		page.Notes, err = w.run(ctx)
		page.Total = len(page.Notes)
		return page, err
	}, func(page api.NotePage) {
		for _, n := range page.Notes {
			e.printf("%s  %s\n", e.paint(bold, line(n.Key)), line(n.Value))
		}
	})
}

// noteWaiter reads notes again when an event is about one.
type noteWaiter struct {
	cl                           *client.Client
	project, task, prefix, value string
	keys                         []string
	valued                       bool
	timeout                      time.Duration
}

// run waits for the notes. It reads the position in the log before the notes, so that
// no change is missed.
func (w *noteWaiter) run(ctx context.Context) ([]api.Note, error) {
	log, err := w.cl.Events(ctx, client.EventQuery{Limit: 1})
	if err != nil {
		return nil, err
	}
	notes, ok, err := w.ready(ctx)
	if err != nil || ok {
		return notes, err
	}
	if w.timeout > 0 {
		limit, stop := context.WithTimeoutCause(ctx, w.timeout, errTooLong)
		defer stop()
		ctx = limit
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := errors.New("the wait is over")
	check := func() (err error) {
		if notes, ok, err = w.ready(ctx); err == nil && ok {
			err = over
		}
		return err
	}
	err = w.cl.FollowEvents(ctx, client.EventQuery{After: log.Last, Project: w.project}, func(ev api.Event) error {
		if ev.Kind != coppice.EventNoteChanged {
			return nil
		}
		return check()
	}, func(api.Bounds) {
		if err := check(); err != nil {
			cancel(err)
		}
	})
	switch {
	case errors.Is(err, over):
		return notes, nil
	case errors.Is(err, errTooLong):
		return nil, timedOut{coppice.Errorf(coppice.EUnavailable, "the notes are not there after %s", w.timeout).WithFix("see `coppice note list`, or wait longer")}
	}
	return nil, err
}

// ready returns the notes with their values, and whether they are as the person wants
// them.
func (w *noteWaiter) ready(ctx context.Context) (out []api.Note, ok bool, err error) {
	keys, least := w.keys, len(w.keys)
	if w.prefix != "" {
		page, err := w.cl.Notes(ctx, w.project, client.NoteQuery{Task: w.task, Prefix: w.prefix, Limit: coppice.MaxNotes})
		if err != nil {
			return nil, false, err
		}
		for _, n := range page.Notes {
			if !w.valued || n.Size == int64(len(w.value)) {
				keys = append(keys, n.Key)
			}
		}
		least = 1
	}
	for _, key := range keys {
		n, err := w.cl.Note(ctx, w.project, w.task, key)
		if coppice.ErrorCode(err) == coppice.ENotFound {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		if !w.valued || n.Value == w.value {
			out = append(out, n)
		}
	}
	return out, len(out) >= least, nil
}
