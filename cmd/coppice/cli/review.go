package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// reviewFlags say what coppice review does besides showing the review.
type reviewFlags struct {
	comment string
	old     bool
	send    bool
	resolve int64
	reopen  int64
	remove  int64
}

func (e *Env) reviewCommand() *cobra.Command {
	var f reviewFlags
	c := &cobra.Command{
		Use: "review KEY [TEXT]", Short: "Review a task's change, and comment on it",
		Long: `Show a task for its review: its summary, checks and verdicts, the changed files with
those that you have viewed, and the open comments. ` + "`coppice diff`" + ` prints the change
itself.

--comment adds a draft on a line or range of a file. --send sends all drafts to the
agent as one message, with a text about the whole change. A running session gets it
immediately. A task that waits for you, or has ended, continues with it.
` + "`coppice land`" + ` approves a task that waits for your review.`,
		Example: `  coppice review app-4
  coppice review app-4 --comment main.go:12-15 "return the error instead"
  coppice review app-4 --send "nearly there"
  coppice review app-4 --resolve 3`,
		Args: args(1, -1, "a task's key and a text"),
	}
	c.Flags().StringVar(&f.comment, "comment", "", "add a draft on `file:line`, or file:first-last; the text says what should change")
	c.Flags().BoolVar(&f.old, "old", false, "with --comment: lines of the file before the change")
	c.Flags().BoolVar(&f.send, "send", false, "send all drafts to the agent, with the text")
	c.Flags().Int64Var(&f.resolve, "resolve", 0, "resolve the comment with this `number`")
	c.Flags().Int64Var(&f.reopen, "reopen", 0, "reopen the comment with this `number`")
	c.Flags().Int64Var(&f.remove, "delete", 0, "delete the draft with this `number`")
	c.MarkFlagsMutuallyExclusive("comment", "send", "resolve", "reopen", "delete")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		text, err := e.text(given[1:])
		if err != nil {
			return err
		}
		if text != "" && f.comment == "" && !f.send {
			return wrongUse("a text needs --comment or --send", "see coppice review --help")
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			if f == (reviewFlags{}) {
				return e.showReview(ctx, cl, given[0], *asJSON)
			}
			out, done, err := f.do(ctx, cl, given[0], text)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return e.json(out)
			}
			e.printf("%s  %s\n", e.paint(bold, given[0]), done)
			return nil
		})
	}
	return c
}

// do carries out what the flags say. It returns what the server answered, and one
// line for people.
func (f reviewFlags) do(ctx context.Context, cl *client.Client, key, text string) (out any, done string, err error) {
	change := func(id int64, resolved bool, word string) (any, string, error) {
		c, err := cl.ChangeComment(ctx, key, id, api.CommentChange{Resolved: &resolved})
		return c, fmt.Sprintf("comment %d is %s", id, word), err
	}
	switch {
	case f.comment != "":
		n, err := parsePlace(f.comment)
		if err != nil {
			return nil, "", err
		}
		if n.Text = text; f.old {
			n.Side = coppice.SideOld
		}
		c, err := cl.AddComment(ctx, key, n)
		return c, fmt.Sprintf("comment %d is a draft; to send all drafts, run: coppice review %s --send", c.ID, key), err
	case f.send:
		m, err := cl.SendComments(ctx, key, text)
		return m, "review sent to its agent", err
	case f.resolve != 0:
		return change(f.resolve, true, "resolved")
	case f.reopen != 0:
		return change(f.reopen, false, "open again")
	case f.remove != 0:
		return struct{}{}, fmt.Sprintf("draft %d is deleted", f.remove), cl.DeleteComment(ctx, key, f.remove)
	}
	return nil, "", wrongUse("--old needs --comment", "see coppice review --help")
}

// parsePlace reads file:line or file:first-last.
func parsePlace(place string) (n api.NewComment, err error) {
	i := strings.LastIndex(place, ":")
	if i > 0 {
		n.Path = place[:i]
		first, last, ranged := strings.Cut(place[i+1:], "-")
		if n.First, err = strconv.Atoi(first); err == nil && ranged {
			n.Last, err = strconv.Atoi(last)
		}
	}
	if i <= 0 || err != nil || n.First < 1 {
		return n, wrongUse(fmt.Sprintf("%s is not a valid place", coppice.Quote(place)), "write it as main.go:12 or main.go:12-15")
	}
	return n, nil
}

func (e *Env) showReview(ctx context.Context, cl *client.Client, key string, asJSON bool) error {
	r, err := cl.Review(ctx, key, api.ReviewPart{FilesOnly: !asJSON})
	if err != nil {
		return err
	}
	if asJSON {
		return e.json(r)
	}
	t, err := cl.Task(ctx, key)
	if err != nil {
		return err
	}
	e.printReview(t, r)
	return nil
}

// printReview prints what a person needs to decide about a change.
func (e *Env) printReview(t api.TaskDetail, r api.Review) {
	e.printHead(t)
	if s := lastSummary(t.History); s != "" {
		e.printf("\n%s\n%s\n", e.paint(bold, "Summary"), indent(Clean(strings.TrimRight(s, "\n"))))
	}
	e.printVerdicts(t.History)
	t.Landings = slices.DeleteFunc(t.Landings, func(l api.Landing) bool { return l.ID != r.Landing })
	e.printLandings(t)
	e.printFiles(r)
	e.printComments(r.Comments)
}

// lastSummary returns the final message of the newest session that changed code.
func lastSummary(sessions []coppice.Session) (text string) {
	for _, s := range sessions {
		if !s.Role.Detached() && s.Summary != "" {
			text = s.Summary
		}
	}
	return text
}

func (e *Env) printFiles(r api.Review) {
	if len(r.Files) == 0 {
		e.printf("\nThere is no change yet.\n")
		return
	}
	e.printf("\n%s %s\n", e.paint(bold, "Files"), e.paint(dim, fmt.Sprintf("(viewed %d of %d)", r.Viewed, len(r.Files))))
	rows := make([][]cell, len(r.Files))
	for i, f := range r.Files {
		mark, size, path := plain(""), fmt.Sprintf("+%d −%d", f.Added, f.Removed), f.Path
		if f.Viewed {
			mark = cell{"✓", green}
		}
		if f.Binary {
			size = "binary"
		}
		if f.OldPath != "" {
			path = f.OldPath + " → " + path
		}
		rows[i] = []cell{mark, plain(f.Kind), plain(size), plain(path)}
	}
	e.table([]column{{}, {head: "CHANGE"}, {head: "LINES", end: true}, {head: "FILE", give: true}}, rows)
}

func (e *Env) printComments(comments []api.ReviewComment) {
	first := true
	for _, c := range comments {
		if c.State == coppice.CommentResolved {
			continue
		}
		if first {
			e.printf("\n%s\n", e.paint(bold, "Comments"))
			first = false
		}
		place := fmt.Sprintf("%s, outdated", c.Path)
		if c.At != nil {
			place = fmt.Sprintf("%s:%d", c.At.Path, c.At.First)
			if c.At.Last > c.At.First {
				place += fmt.Sprintf("-%d", c.At.Last)
			}
		}
		if c.Side == coppice.SideOld {
			place += ", before the change"
		}
		e.printf("%d. %s %s\n", c.ID, line(place), e.paint(dim, "("+string(c.State)+")"))
		e.printf("%s\n", indent(Clean(strings.TrimRight(c.Text, "\n"))))
	}
}
