package cli

import (
	"context"
	"strings"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) searchCommand() *cobra.Command {
	q := client.SearchQuery{Fresh: true}
	var all bool
	c := &cobra.Command{
		Use: "search WORDS", Short: "Search tasks, sessions' output and checks",
		Long: `Search tasks by key, title and description; the output of sessions, with messages,
thoughts, tool calls and their results, and the output of apps and hosts; and the
commands and logs of checks. All words must match; the start of a word is enough. A
"phrase" in quotes matches exactly. A -word must not occur (if it comes first, write
-- before it). The command searches the current directory's project, or all projects
if the directory is not in one.`,
		Example: "  coppice search parser error\n  coppice search '\"connection refused\"' -- -retry\n  coppice search walrus --kind output --all --json\n  coppice search walrus --label ui",
		Args:    args(1, -1, "words to look for"),
	}
	f := c.Flags()
	f.StringVarP(&q.Project, "project", "p", "", "a project's prefix")
	f.BoolVarP(&all, "all", "a", false, "search all projects")
	f.StringSliceVar(&q.Kinds, "kind", nil, "only search task, output or check")
	f.IntVarP(&q.Most, "limit", "n", 20, "at most this many results")
	group := markFlags(c, &q.Marks)
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		if q.Most < 1 || q.Most > 200 {
			return wrongUse("--limit is out of range", "use a number from 1 to 200")
		}
		q.Text = strings.Join(given, " ")
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (page api.SearchPage, err error) {
			if err = e.inProject(ctx, cl, &q.Project, all); err == nil {
				err = findGroup(ctx, cl, q.Project, *group, &q.Marks)
			}
			if err == nil {
				page, err = cl.Search(ctx, q)
			}
			return page, err
		}, e.hits)
	}
	return c
}

// inProject fills in the current directory's project, unless one is named or
// all are requested.
func (e *Env) inProject(ctx context.Context, cl *client.Client, project *string, all bool) error {
	if *project != "" || all {
		return nil
	}
	p, err := e.here(ctx, cl)
	if p != nil {
		*project = p.Prefix
	}
	return err
}

func (e *Env) hits(page api.SearchPage) {
	for _, h := range page.Hits {
		place := h.Task
		if h.Session != "" {
			place = h.Session
		}
		e.printf("%s  %s%s  %s\n", e.paint(bold, place), e.paint(dim, e.moment(h.At)), e.paint(dim, source(h)), line(h.Title))
		e.printf("    %s\n", e.marked(h.Snippet, h.Marks))
	}
	switch {
	case len(page.Hits) == 0:
		e.printf("nothing was found\n")
	case page.More:
		e.printf("%s\n", e.paint(dim, "there are more results; add words, or raise --limit"))
	}
	if page.Behind {
		e.printf("%s\n", e.paint(dim, "the index does not have the newest output yet; search again in a moment"))
	}
}

// source names the place of a hit, unless it is an agent's message or the task
// itself.
func source(h api.Hit) string {
	switch {
	case h.Kind == api.HitCheck:
		return "  check: " + line(h.Command)
	case h.Source == coppice.OutputApp:
		return "  app log"
	case h.Source == "" || h.Source == coppice.OutputEvent:
		return ""
	}
	return "  " + string(h.Source)
}

// marked paints the matches in a snippet, whose marks count UTF-16 code units.
func (e *Env) marked(s string, marks [][]int) string {
	units := utf16.Encode([]rune(s))
	var b strings.Builder
	at := 0
	part := func(to int) string {
		to = min(max(to, at), len(units))
		text := Clean(string(utf16.Decode(units[at:to])))
		at = to
		return text
	}
	for _, m := range marks {
		if len(m) != 2 {
			continue
		}
		b.WriteString(part(m[0]))
		b.WriteString(e.paint(yellow.Bold(true), part(m[0]+m[1])))
	}
	b.WriteString(part(len(units)))
	return b.String()
}
