package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) undoCommand() *cobra.Command {
	var project, kind string
	var list, yes bool
	c := &cobra.Command{
		Use: "undo [KEY]", Short: "Undo a landing, a stop, an archiving or a removal",
		Long: `Without a key, list the last five things that can be undone, and undo the newest one
that you did: a landing, a stop, an archiving, or the removal of a workspace. With a
key, undo the newest thing about that task. The command asks before it changes your
branch.

A landing is taken off its branch as by ` + "`coppice revert`" + `. A stopped task continues as
it was, in its workspace and conversation. A removed workspace comes back with its
branch, its commits, its uncommitted changes, and the ignored files that the project
keeps; ` + "`coppice show KEY`" + ` says where it is.`,
		Example: "  coppice undo\n  coppice undo --list\n  coppice undo app-4\n  coppice undo app-4 --only removal",
		Args:    args(0, 1, "at most one key"),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "only of this project, by its prefix")
	c.Flags().StringVar(&kind, "only", "", "what to undo about the task: landing, stop, archive or removal")
	c.Flags().BoolVarP(&list, "list", "l", false, "only list what can be undone")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		key := strings.Join(given, "")
		if kind != "" && (key == "" || !slices.Contains(coppice.UndoKinds, coppice.UndoKind(kind))) {
			return wrongUse("--only needs a key and one of landing, stop, archive and removal", "for example: coppice undo app-4 --only removal")
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			all, err := cl.Undoable(ctx, key, project)
			if err != nil {
				return err
			}
			if list {
				if *asJSON {
					return e.json(api.UndoList{Undo: all})
				}
				e.printUndo(all)
				return nil
			}
			next, err := e.nextUndo(all, key, coppice.UndoKind(kind), *asJSON)
			if err != nil {
				return err
			}
			if !yes {
				if err := e.confirmUndo(next); err != nil {
					return err
				}
			}
			out, err := cl.UndoTask(ctx, next.Task, next.Kind)
			if err != nil {
				return err
			}
			if *asJSON {
				return e.json(out)
			}
			e.printf("%s  %s\n", e.paint(bold, next.Task), undone(out))
			return nil
		})
	}
	return c
}

// nextUndo returns what to undo: what the person named, or the newest thing that
// the person did. In the second case it shows the list first.
func (e *Env) nextUndo(all []coppice.Undo, key string, kind coppice.UndoKind, quiet bool) (coppice.Undo, error) {
	if key != "" {
		u := coppice.Undo{Task: key, Kind: kind}
		if len(all) > 0 && (kind == "" || kind == all[0].Kind) {
			u = all[0]
		}
		return u, nil // the server says whether there is such a thing
	}
	if !quiet && len(all) > 0 {
		e.printUndo(all)
	}
	for _, u := range all {
		if u.Own {
			return u, nil
		}
	}
	if len(all) == 0 {
		return coppice.Undo{}, coppice.Errorf(coppice.ENotFound, "there is nothing to undo").WithFix("see what happened with `coppice events`")
	}
	return coppice.Undo{}, coppice.Errorf(coppice.ENotFound, "none of these is yours").WithFix("name one: coppice undo %s", all[0].Task)
}

// printUndo lists what can be undone.
func (e *Env) printUndo(all []coppice.Undo) {
	listed(e, "nothing can be undone", all, []column{{head: "AGE", end: true}, {head: "KEY"}, {head: "WHAT"}, {head: "BY"}, {head: "TITLE", give: true}, {head: "UNDOING IT", give: true}}, func(u coppice.Undo) []cell {
		who := u.By
		if u.Own {
			who = "you"
		}
		return []cell{{ago(e.Now().Sub(u.At)), dim}, {u.Task, bold}, plain(string(u.Kind)), plain(who), plain(line(u.Title)), plain(line(u.Text))}
	})
}

// confirmUndo asks before a branch of the person changes.
func (e *Env) confirmUndo(u coppice.Undo) error {
	if u.Branch == "" && u.Kind != coppice.UndoLanding {
		return nil
	}
	if !e.Asks {
		return wrongUse(fmt.Sprintf("undoing the landing of %s needs a confirmation, because it changes a branch", u.Task), "pass --yes, or run it in a terminal")
	}
	return e.confirm(fmt.Sprintf("Undo the landing of %s? It %s.", u.Task, line(u.Text)), "nothing was undone")
}

// confirm asks a question. Without a yes it returns an error that says what did
// not happen.
func (e *Env) confirm(question, otherwise string) error {
	e.printf("%s [y/N] ", question)
	answer, _ := bufio.NewReader(e.Stdin).ReadString('\n') // the end of the input is a no
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return coppice.Errorf(coppice.EConflict, "%s", otherwise)
	}
	return nil
}

// undone says what happens now. It names no folder: the workspace gets one when it
// is restored.
func undone(out api.Undone) string {
	switch u := out.Undone; u.Kind {
	case coppice.UndoLanding:
		return "its landing is being undone: " + line(u.Text)
	case coppice.UndoStop:
		return "continues as it was"
	case coppice.UndoArchive:
		return "is back on the board"
	}
	return fmt.Sprintf("its workspace comes back; see where with: coppice show %s", out.Undone.Task)
}

func (e *Env) trashCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "trash", Short: "List, restore or empty the trash of removed workspaces",
		Long:    "The trash keeps the workspaces of tasks that have ended. trash.ttl in coppice.yaml says how long.",
		Example: "  coppice trash list\n  coppice trash restore app-4\n  coppice trash empty --older-than 3d",
		Args:    args(0, 0, ""),
	}
	c.AddCommand(e.trashList(), e.trashRestore(), e.trashEmpty())
	return c
}

func (e *Env) trashList() *cobra.Command {
	var project string
	c := &cobra.Command{
		Use: "list", Short: "List removed workspaces", Long: "List the workspaces in the trash: when each was removed, and when it is removed permanently.",
		Example: "  coppice trash list\n  coppice trash list --project app", Args: args(0, 0, ""),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "only of this project, by its prefix")
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (api.TrashList, error) {
		return cl.Trash(ctx, project)
	}, e.printTrash)
}

func (e *Env) printTrash(list api.TrashList) {
	listed(e, "the trash is empty", list.Trash, []column{{head: "KEY"}, {head: "TITLE", give: true}, {head: "REMOVED", end: true}, {head: "EXPIRES", end: true}, {head: "RESTORE", give: true}}, func(x api.TrashItem) []cell {
		note := "an earlier workspace of the task"
		switch {
		case x.What == coppice.TrashBranches:
			note = "branches of its agents: coppice show " + x.Task
		case x.Uses != "":
			note = "in use: " + x.Uses
		case x.Restores:
			note = "coppice trash restore " + x.Task
		}
		return []cell{
			{x.Task, bold}, plain(line(x.Title)), {ago(e.Now().Sub(x.RemovedAt)) + " ago", dim}, {"in " + ago(x.ExpiresAt.Sub(e.Now())), dim}, plain(note),
		}
	})
	if list.More {
		e.printf("%s\n", e.paint(dim, "there is more; see a single project with --project"))
	}
}

func (e *Env) trashRestore() *cobra.Command {
	c := &cobra.Command{
		Use: "restore KEY…", Short: "Restore removed workspaces",
		Long: `Restore the workspaces of tasks from the trash: their branches, commits, uncommitted
changes, and the ignored files that the project keeps. The tasks stay ended. Each
workspace can be in another folder than before: ` + "`coppice show KEY`" + ` says where.`,
		Example: "  coppice trash restore app-4",
	}
	return e.tasksAction(c, "its workspace comes back; `coppice show` says where", &selection{}, func(ctx context.Context, cl *client.Client, key string) (api.Task, error) {
		out, err := cl.UndoTask(ctx, key, coppice.UndoRemoval)
		return out.Task, err
	})
}

func (e *Env) trashEmpty() *cobra.Command {
	var project, older string
	var yes bool
	c := &cobra.Command{
		Use: "empty [KEY…]", Short: "Remove removed workspaces permanently",
		Long: `Remove workspaces permanently from the trash: those of the named tasks, or all of a
project, or all. Work on a branch that has not landed is lost. The trash of a task
that has not ended, or is about to continue, is in use and stays. So does trash from
which a fork will start.`,
		Example: "  coppice trash empty\n  coppice trash empty --older-than 3d --project app --yes\n  coppice trash empty app-4",
		Args:    args(0, -1, "keys of tasks"),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "only of this project, by its prefix")
	c.Flags().StringVar(&older, "older-than", "", "only what was removed longer ago, such as 12h or 3d")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		var age coppice.Duration
		if older != "" {
			if err := age.UnmarshalText([]byte(older)); err != nil {
				return usage{err}
			}
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			if !yes {
				if err := e.confirmEmpty(given, project, older); err != nil {
					return err
				}
			}
			all := api.TrashEmptied{Tasks: []string{}}
			for more := true; more; {
				out, err := cl.EmptyTrash(ctx, project, age, given...)
				if err != nil {
					return err
				}
				all.Tasks = append(all.Tasks, out.Tasks...)
				more = out.More
			}
			if *asJSON {
				return e.json(all)
			}
			if len(all.Tasks) == 0 {
				e.printf("nothing to remove\n")
				return nil
			}
			e.printf("removing %s permanently: %s\n", count(len(all.Tasks), "workspace"), line(strings.Join(all.Tasks, ", ")))
			return nil
		})
	}
	return c
}

// confirmEmpty asks before trash is removed permanently.
func (e *Env) confirmEmpty(keys []string, project, older string) error {
	if !e.Asks {
		return wrongUse("emptying the trash needs a confirmation", "pass --yes, or run it in a terminal")
	}
	what := "the trash of all projects"
	switch {
	case len(keys) > 0:
		what = "the trash of " + strings.Join(keys, ", ")
	case project != "":
		what = "the trash of " + project
	}
	if older != "" {
		what += " that is older than " + older
	}
	return e.confirm(fmt.Sprintf("Remove %s permanently?", line(what)), "nothing was removed")
}
