package gitlab

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go"

	"coppice"
	"coppice/forge"
)

func (r *repo) Read(ctx context.Context, number int) (coppice.PullRead, error) {
	m, _, err := get[request](ctx, r, path(number, ""), nil)
	if err != nil {
		return coppice.PullRead{}, err
	}
	brief := m.brief()
	read := coppice.PullRead{
		Number: brief.Number, URL: brief.URL, Title: m.title(), Author: m.Author.login(), State: brief.State, Draft: m.Draft,
		Branch: brief.Branch, Head: brief.Head, Base: m.TargetBranch, Foreign: m.SourceProject != m.TargetProject,
		Conflicts: brief.State == coppice.PullOpen && m.HasConflicts, Labels: slices.Sorted(slices.Values(m.Labels)), UpdatedAt: brief.UpdatedAt,
	}
	if read.State == coppice.PullMerged {
		read.Merged = m.merged()
	}
	if read.Comments, err = r.comments(ctx, number); err != nil {
		return coppice.PullRead{}, err
	}
	read.Review = forge.ReviewOf(read.Comments)
	if read.Checks, err = r.checks(ctx, m); err != nil {
		return coppice.PullRead{}, err
	}
	read.CI = forge.CIOf(read.Checks)
	return read, nil
}

// discussion is a thread of notes, or a single note.
type discussion struct {
	ID    string `json:"id"`
	Notes []note `json:"notes"`
}

type note struct {
	ID         int64      `json:"id"`
	Body       string     `json:"body"`
	Author     user       `json:"author"`
	System     bool       `json:"system"` // GitLab wrote it about what a person did
	CreatedAt  *time.Time `json:"created_at"`
	Resolvable bool       `json:"resolvable"`
	Resolved   bool       `json:"resolved"`
	Position   *struct {
		NewPath string `json:"new_path"`
		OldPath string `json:"old_path"`
		NewLine int    `json:"new_line"`
		OldLine int    `json:"old_line"`
	} `json:"position"`
}

// decision is what a person decided about a request.
type decision struct {
	user   user
	review coppice.ReviewState
	at     *time.Time
}

// decided are GitLab's notes about decisions. They have the time and a number that
// differs if a person decides the same again.
var decided = map[coppice.ReviewState]string{coppice.ReviewApproved: "approved this merge request", coppice.ReviewChanges: "requested changes"}

// comments returns the notes of people on a request, and their decisions.
func (r *repo) comments(ctx context.Context, number int) ([]coppice.PullComment, error) {
	list, err := pages[discussion](ctx, r, path(number, "/discussions"))
	if err != nil {
		return nil, err
	}
	decisions, err := r.decisions(ctx, number)
	if err != nil {
		return nil, err
	}
	var all []coppice.PullComment
	authors := map[string]int64{}
	for _, d := range list {
		for _, n := range d.Notes {
			if n.System || n.ID == 0 {
				continue
			}
			c := coppice.PullComment{ID: "note/" + strconv.FormatInt(n.ID, 10), Author: n.Author.login(), Text: n.Body, Resolved: n.Resolved, At: n.at()}
			if n.Resolvable {
				c.Thread = d.ID
			}
			if p := n.Position; p != nil {
				c.Path, c.Line = cmp.Or(p.NewPath, p.OldPath), cmp.Or(p.NewLine, p.OldLine)
			}
			authors[c.Author] = n.Author.ID
			all = append(all, c)
		}
	}
	for _, d := range decisions {
		authors[d.user.login()] = d.user.ID
		all = addDecision(all, d, newestNote(list, d.user.ID, decided[d.review]))
	}
	writers, err := r.writers(ctx, authors)
	if err != nil {
		return nil, err
	}
	for i, c := range all {
		all[i].Bot, all[i].Writes = bots().MatchString(c.Author), writers[authors[c.Author]]
	}
	forge.SortComments(all)
	return all, nil
}

// addDecision adds what a person decided. GitLab publishes a review with a decision as
// two notes, one after the other: the person's text, and a system note. Then the
// decision belongs to the text.
func addDecision(all []coppice.PullComment, d decision, said note) []coppice.PullComment {
	const together = 10 * time.Second
	c := coppice.PullComment{ID: "review/" + string(d.review) + "-" + strconv.FormatInt(d.user.ID, 10), Author: d.user.login(), Review: d.review}
	if d.at != nil {
		c.At = d.at.UTC()
	}
	if said.ID == 0 {
		return append(all, c)
	}
	c.ID, c.At = "review/"+strconv.FormatInt(said.ID, 10), said.at()
	for i := range slices.Backward(all) {
		if t := &all[i]; t.Author == c.Author && t.Thread == "" && t.Path == "" && c.At.Sub(t.At).Abs() < together {
			t.Review = c.Review
			return all
		}
	}
	return append(all, c)
}

func (n note) at() time.Time {
	if n.CreatedAt == nil {
		return time.Time{}
	}
	return n.CreatedAt.UTC()
}

func newestNote(list []discussion, author int64, body string) note {
	var newest note
	for _, d := range list {
		for _, n := range d.Notes {
			if n.System && n.Author.ID == author && n.Body == body && n.ID > newest.ID {
				newest = n
			}
		}
	}
	return newest
}

// decisions returns who approved a request, and which reviewers requested changes.
// Older versions of GitLab do not have the latter.
func (r *repo) decisions(ctx context.Context, number int) ([]decision, error) {
	approvals, _, err := get[struct {
		ApprovedBy []struct {
			User user       `json:"user"`
			At   *time.Time `json:"approved_at"`
		} `json:"approved_by"`
	}](ctx, r, path(number, "/approvals"), nil)
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
		return nil, err
	}
	var list []decision
	for _, a := range approvals.ApprovedBy {
		list = append(list, decision{a.User, coppice.ReviewApproved, a.At})
	}
	reviewers, _, err := get[[]struct {
		User  user   `json:"user"`
		State string `json:"state"`
	}](ctx, r, path(number, "/reviewers"), nil)
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
		return nil, err
	}
	for _, v := range reviewers {
		if v.State == "requested_changes" {
			list = append(list, decision{v.User, coppice.ReviewChanges, nil})
		}
	}
	return slices.DeleteFunc(list, func(d decision) bool { return d.user.ID == 0 }), nil
}

// bots are the names that GitLab gives to users of access tokens and service
// accounts, and the usual names of bots.
var bots = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(project|group)_\d+_bot|^service_account_|[-_\[]bot\]?$|^gitlabduo$`)
})

// developer is the lowest access level that can push.
const developer = 30

// writers returns which of the users can write to the project.
func (r *repo) writers(ctx context.Context, authors map[string]int64) (map[int64]bool, error) {
	var ids []int64
	for _, id := range authors {
		if id != 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids) // the same request each time
	can := map[int64]bool{}
	for part := range slices.Chunk(ids, perPage) {
		list, _, err := get[[]struct {
			ID    int64 `json:"id"`
			Level int   `json:"access_level"`
		}](ctx, r, "/members/all", gl.ListProjectMembersOptions{ListOptions: gl.ListOptions{PerPage: perPage}, UserIDs: &part})
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			can[m.ID] = can[m.ID] || m.Level >= developer
		}
	}
	return can, nil
}
