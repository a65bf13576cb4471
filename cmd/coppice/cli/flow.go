package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/verb"
)

func (e *Env) flowCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "flow", Short: "List, show and steer flows",
		Long: `A flow is a task whose work is done by other tasks, its steps. Its kind plans them: goal,
cycle, debate or batch. Start one with the command of the same name. Everything that
works for a task works for a flow, too: coppice show, wait, set, stop and undo.`,
		Example: "  coppice flow list\n  coppice flow show app-13\n  coppice flow pause app-13\n  coppice flow doc app-13 plan --edit",
	}
	c.AddCommand(e.flowList(), e.flowShow(), e.flowResume(), e.flowDoc(), e.flowDocs(),
		e.flowVerb(coppice.VerbPause, "is paused", &cobra.Command{
			Use: "pause KEY", Short: "Start no further step of a flow",
			Long:    "Start no further step of a flow. Steps that run continue. To start again, run: coppice flow resume KEY.",
			Example: "  coppice flow pause app-13",
		}),
		e.flowVerb(coppice.VerbStop, "stops", &cobra.Command{
			Use: "cancel KEY", Short: "Stop a flow with everything below it",
			Long:    "Stop a flow, its steps and everything below them, as coppice stop does. Its branch is kept. To continue, run: coppice flow resume KEY.",
			Example: "  coppice flow cancel app-13",
		}),
		e.flowVerb(coppice.VerbWrapUp, "is wrapped up", &cobra.Command{
			Use: "wrap-up KEY", Short: "End a flow with what is proven",
			Long:    "Stop the open steps of a flow, and land what is proven: the steps that have landed on its branch. It also works for a flow that failed or was stopped.",
			Example: "  coppice flow wrap-up app-13",
		}))
	return c
}

// flowVerb completes a command that requests something of a flow.
func (e *Env) flowVerb(v coppice.Verb, done string, c *cobra.Command) *cobra.Command {
	c.Args = args(1, 1, "the key of a flow")
	return e.taskAction(c, done, func(ctx context.Context, cl *client.Client, given []string) (api.Task, error) {
		if _, err := cl.Flow(ctx, given[0]); err != nil { // stop works for any task
			return api.Task{}, err
		}
		return cl.Ask(ctx, given[0], v, verb.Request{})
	})
}

func (e *Env) flowResume() *cobra.Command {
	var from string
	var cycle int
	c := &cobra.Command{
		Use: "resume KEY", Short: "Continue a flow that is paused, waits for you or has ended",
		Long: `Continue a flow that is paused, waits for you, failed or was stopped. Steps that failed or
were stopped run again. It is also how you approve what a flow waits for, such as its plan.

With --from, the named step and all that follow it run again, and those that are open stop.
Name a step by its key or by its phase, such as review. Of several steps of a phase, the
last one counts, or the last one of --cycle. Items of a batch that have landed do not run
again, except the one that you name.`,
		Example: "  coppice flow resume app-13\n  coppice flow resume app-13 --from c2/implement\n  coppice flow resume app-13 --from review --cycle 3",
		Args:    args(1, 1, "the key of a flow"),
	}
	c.Flags().StringVar(&from, "from", "", "the step to continue from: its key, or its phase")
	c.Flags().IntVar(&cycle, "cycle", 0, "with --from: the cycle of the phase")
	_ = c.RegisterFlagCompletionFunc("from", e.completion(completeSteps))
	return e.taskAction(c, "continues", func(ctx context.Context, cl *client.Client, given []string) (t api.Task, err error) {
		if _, err := cl.Flow(ctx, given[0]); err != nil {
			return t, err
		}
		switch {
		case cycle != 0 && from == "":
			return t, wrongUse("--cycle without --from has no effect", "add --from, for example --from review")
		case cycle != 0:
			from = fmt.Sprintf("c%d/%s", cycle, from)
		}
		return cl.Ask(ctx, given[0], coppice.VerbResume, verb.Request{Text: from})
	})
}

// completeSteps lists the steps of the flow that the command names.
func completeSteps(ctx context.Context, cl *client.Client, c *cobra.Command, _ string) (out []cobra.Completion) {
	f, err := cl.Flow(ctx, c.Flags().Arg(0))
	if err != nil {
		return nil
	}
	for _, s := range f.Steps {
		if !s.Left {
			out = append(out, described(s.Key, s.Title))
		}
	}
	return out
}

// completeDocuments lists the documents of the flow that the command names.
func completeDocuments(ctx context.Context, cl *client.Client, c *cobra.Command, _ string) (out []cobra.Completion) {
	f, err := cl.Flow(ctx, c.Flags().Arg(0))
	if err != nil {
		return nil
	}
	for _, d := range f.Documents {
		out = append(out, described(d.Name, "version "+itoa(d.Version)))
	}
	return out
}

// completeFlows lists the newest flows. For a command that requests something of them,
// it lists those to which the request applies.
func completeFlows(ctx context.Context, cl *client.Client, c *cobra.Command, project string) (out []cobra.Completion) {
	page, err := cl.Flows(ctx, client.FlowQuery{Project: project, Limit: 100})
	if err != nil {
		return nil
	}
	of := coppice.Verb(c.Name())
	if of == "cancel" {
		of = coppice.VerbStop
	}
	for _, f := range page.Flows {
		if verb.Of(of) == nil || slices.Contains(f.Task.Can, of) {
			out = append(out, described(f.Task.Key, f.Task.Title))
		}
	}
	return out
}

func (e *Env) flowDocs() *cobra.Command {
	c := &cobra.Command{
		Use: "docs KEY", Short: "List the documents of a flow",
		Long:    "List the documents of a flow, such as its plan and its summary, with the newest version of each.",
		Example: "  coppice flow docs app-13", Args: args(1, 1, "the key of a flow"),
	}
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) ([]api.FlowDocument, error) {
		f, err := cl.Flow(ctx, given[0])
		return f.Documents, err
	}, func(list []api.FlowDocument) {
		if len(list) == 0 {
			e.printf("no documents\n")
			return
		}
		e.documents(list)
	})
}

// documents prints a table of documents, or of versions.
func (e *Env) documents(list []api.FlowDocument) {
	rows := make([][]cell, len(list))
	for i, d := range list {
		rows[i] = []cell{{line(d.Name), bold}, plain(itoa(d.Version)), plain(itoa(d.Size)), {ago(e.Now().Sub(d.At)), dim}, plain(d.Step), plain(d.By)}
	}
	e.table([]column{{head: "NAME"}, {head: "VERSION", end: true}, {head: "BYTES", end: true}, {head: "AGE", end: true}, {head: "STEP"}, {head: "BY", give: true}}, rows)
}

func (e *Env) flowDoc() *cobra.Command {
	var version int64
	var edit, versions bool
	c := &cobra.Command{
		Use: "doc KEY NAME", Short: "Print or edit a document of a flow",
		Long: `Print a document of a flow, such as plan or summary. To a pipe or file it is exact. With
--versions, list its versions instead.

With --edit, change it in your editor ($VISUAL or $EDITOR). A new version is stored only
if nobody has changed the document in the meantime, and the flow then plans again. If
somebody has, your text is kept in a file, whose path the error names.`,
		Example: "  coppice flow doc app-13 plan\n  coppice flow doc app-13 plan --version 2\n  coppice flow doc app-13 plan --edit", Args: args(2, 2, "the key of a flow and the name of a document"),
	}
	c.Flags().Int64Var(&version, "version", 0, "the version; the default is the newest")
	c.Flags().BoolVarP(&edit, "edit", "e", false, "change it in your editor")
	c.Flags().BoolVar(&versions, "versions", false, "list its versions")
	asJSON := jsonFlag(c)
	c.ValidArgsFunction = func(c *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch len(given) {
		case 0:
			return e.completion(completeFlows)(c, given, word)
		case 1:
			return e.completion(completeDocuments)(c, given, word)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c.RunE = func(c *cobra.Command, given []string) error {
		switch {
		case edit && version != 0:
			return wrongUse("--edit and --version were both given", "--edit changes the newest version")
		case versions && (edit || version != 0):
			return wrongUse("--versions was given with --edit or --version", "use one of them")
		case versions:
			return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (api.DocumentVersions, error) {
				return cl.DocumentVersions(ctx, given[0], given[1])
			}, func(v api.DocumentVersions) { e.documents(v.Versions) })
		case edit:
			return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (api.FlowDocument, error) {
				return e.editDocument(ctx, cl, given[0], given[1])
			}, func(d api.FlowDocument) { e.printf("%s  version %d\n", e.paint(bold, line(d.Name)), d.Version) })
		}
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (api.FlowDocument, error) {
			return cl.Document(ctx, given[0], given[1], version)
		}, func(d api.FlowDocument) {
			if e.Terminal {
				e.printf("%s\n", strings.TrimSuffix(Clean(d.Text), "\n"))
				return
			}
			e.printf("%s", d.Text) // exact, for programs
		})
	}
	return c
}

// editDocument lets a person change a document in the editor. If somebody else changed
// it in the meantime, the person's text is kept.
func (e *Env) editDocument(ctx context.Context, cl *client.Client, key, name string) (api.FlowDocument, error) {
	d, err := cl.Document(ctx, key, name, 0)
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
		return d, err
	}
	if _, err := cl.Flow(ctx, key); err != nil { // the document can be new, the flow cannot
		return d, err
	}
	dir, err := os.MkdirTemp("", "coppice-doc-")
	if err != nil {
		return d, coppice.Errorf(coppice.EUnavailable, "no temporary file can be created: %w", err).WithFix("set TMPDIR to a directory that you can write to")
	}
	path := filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".md")
	if err := os.WriteFile(path, []byte(d.Text), 0o600); err != nil {
		return d, err
	}
	if err := e.Edit(ctx, path); err != nil {
		return d, err
	}
	b, err := e.readFile(path, coppice.MaxDocument)
	if err != nil {
		return d, err
	}
	if string(b) == d.Text {
		_ = os.RemoveAll(dir) // nothing of the person's is in it
		return d, coppice.Errorf(coppice.EConflict, "the text is as it was; nothing was stored")
	}
	stored, err := cl.PutDocument(ctx, key, name, api.DocumentWrite{Text: string(b), IfVersion: &d.Version})
	if err != nil {
		p := coppice.Public(err)
		return d, p.WithFix("%s; your text is in %s", cmp.Or(p.Fix, "try again"), path)
	}
	return stored, os.RemoveAll(dir)
}
