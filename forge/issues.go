package forge

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"coppice"
)

const (
	// overlap is how late a tracker can show a change: it commits changes in another
	// order than that of their times, and its search finds them some time later.
	overlap = time.Minute

	mostListed   = 10 * MostIssues // issues that one list of a pass has
	mostReported = 16 << 20        // bytes of the issues of one pass, without those that are named
	mostWritten  = 60 << 10        // bytes of a comment, which every tracker accepts
)

// ReadIssues reads the issues of a tracker: those that match and are new, those that
// Coppice knows and have changed, and those that are named. Without spec.Since it is a
// full pass, which finds all that match, and all known issues that have changed.
//
// An issue that the tracker cannot deliver is missing in the result, so that it does
// not block the others. The next full pass reads it. ReadIssues fails if there are only
// such issues.
func ReadIssues(ctx context.Context, t Tracker, spec coppice.TrackerReadSpec) (coppice.TrackerReadResult, error) {
	p := &pass{t: t, spec: spec, known: map[string]coppice.Known{}, wanted: map[string]wanted{}}
	if !spec.Since.IsZero() {
		p.newest = spec.Since.Add(overlap)
	}
	for _, k := range spec.Known {
		p.known[k.ID], p.newest = k, later(p.newest, k.UpdatedAt)
	}
	for i, id := range spec.Named {
		if _, twice := p.wanted[id]; !twice {
			p.wanted[id] = wanted{id: id, why: named, place: i}
		}
	}
	if err := p.list(ctx); err != nil {
		return coppice.TrackerReadResult{}, err
	}
	if err := p.read(ctx); err != nil {
		return coppice.TrackerReadResult{}, err
	}
	if until := earlier(p.newest, p.cut); !until.IsZero() {
		p.result.Until = later(until.Add(-overlap), spec.Since).UTC()
	}
	return p.result, nil
}

// pass is one run of ReadIssues.
type pass struct {
	t      Tracker
	spec   coppice.TrackerReadSpec
	known  map[string]coppice.Known
	wanted map[string]wanted
	lists  int       // that the tracker has delivered
	newest time.Time // the newest change before the first list
	cut    time.Time // of the first issue that is left for the next pass; zero if there is none
	result coppice.TrackerReadResult
}

// wanted is an issue that is read as a whole.
type wanted struct {
	id    string
	why   reason
	place int       // among the named ones
	at    time.Time // of its change, as the list has it
}

// reason is why an issue is read, in the order in which issues are read.
type reason int

const (
	named    reason = iota
	changed         // or new
	unlisted        // known, and no list of a full pass has it
)

// list finds the issues to read. The known ones come first, so that the next pass
// lists what changes between the two lists.
func (p *pass) list(ctx context.Context) error {
	full := p.spec.Since.IsZero()
	if !full && len(p.known) > 0 {
		all, err := p.each(ctx, IssueQuery{Since: p.spec.Since})
		if err != nil {
			return err
		}
		for _, r := range all {
			if _, known := p.known[r.ID]; known {
				p.want(r)
			}
		}
	}
	if p.spec.List && !p.spec.Tracker.Import.IsZero() {
		matching, err := p.each(ctx, IssueQuery{TrackerImport: p.spec.Tracker.Import, Since: p.spec.Since, Open: true})
		if err != nil {
			return err
		}
		if full && !p.cut.IsZero() {
			return coppice.Errorf(coppice.EInvalid, "more than %d open issues match the import of the tracker %s", mostListed, coppice.Quote(p.spec.Tracker.SourceName())).
				WithField("tracker.import").WithFix("choose fewer issues in tracker.import of coppice.yaml, for example by a label")
		}
		for _, r := range matching {
			p.want(r)
			if full {
				p.result.Matching = append(p.result.Matching, r.ID)
			}
		}
		slices.Sort(p.result.Matching)
	}
	if full {
		for id, k := range p.known {
			_, listed := slices.BinarySearch(p.result.Matching, id)
			if _, wants := p.wanted[id]; !listed && !wants {
				p.wanted[id] = wanted{id: id, why: unlisted, at: k.UpdatedAt}
			}
		}
	}
	return nil
}

// want adds an issue of a list, if it is new or has changed.
func (p *pass) want(r coppice.IssueRead) {
	k, known := p.known[r.ID]
	if _, wants := p.wanted[r.ID]; !wants && !(known && k.UpdatedAt.Equal(r.UpdatedAt)) {
		p.wanted[r.ID] = wanted{id: r.ID, why: changed, at: r.UpdatedAt}
	}
}

// each returns the issues that match a query, at most mostListed. An issue that changes
// in the meantime moves to the end of the tracker's list.
func (p *pass) each(ctx context.Context, q IssueQuery) ([]coppice.IssueRead, error) {
	var all []coppice.IssueRead
	place := map[string]int{}
	for more := true; more; {
		list, err := p.t.Issues(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			i, listed := place[r.ID]
			if !listed {
				i, all = len(all), append(all, r)
				place[r.ID] = i
			}
			all[i] = r
		}
		more = false
		if len(list) >= MostIssues {
			last := list[len(list)-1].UpdatedAt
			more, q.Since = last.After(q.Since), last
		}
		if more && len(all) >= mostListed {
			p.cut, more = earlier(p.cut, q.Since), false
		}
	}
	if p.lists++; p.lists == 1 {
		for _, r := range all {
			p.newest = later(p.newest, r.UpdatedAt)
		}
	}
	return all, nil
}

// read reads the wanted issues as a whole.
func (p *pass) read(ctx context.Context) error {
	list := p.order()
	reads := make([]coppice.IssueRead, len(list))
	errs, err := parallel(ctx, len(list), func(ctx context.Context, i int) error {
		r, err := p.t.Issue(ctx, list[i].id)
		reads[i] = p.clip(r)
		return err
	})
	if err != nil {
		return err
	}
	size, delivered := 0, 0
	for i, w := range list {
		k, known := p.known[w.id]
		switch {
		case coppice.ErrorCode(errs[i]) == coppice.ENotFound:
			delivered++
			if known || w.why == named {
				p.result.Gone = append(p.result.Gone, w.id)
			}
			continue
		case errs[i] != nil:
			err = cmp.Or(err, errs[i])
			continue
		}
		delivered++
		if w.why != named && known && (w.why == unlisted && k.UpdatedAt.Equal(reads[i].UpdatedAt) || k.Digest == reads[i].Digest()) {
			continue
		}
		if size += len(coppice.Raw(reads[i])); w.why == changed && size > mostReported {
			p.cut = earlier(p.cut, w.at)
			continue
		}
		p.result.Issues = append(p.result.Issues, reads[i])
	}
	switch {
	case delivered == 0 && err != nil:
		return err
	case len(p.result.Gone) > 0 && p.lists == 0:
		// If the whole source does not exist, or the token cannot read it, that is a
		// failure, and none of its issues is gone.
		_, err := p.t.Issues(ctx, IssueQuery{Since: p.newest, Open: true})
		return err
	}
	return nil
}

// order returns what is read: all that are named, and the changed ones that changed
// first. The next pass reads the others.
func (p *pass) order() []wanted {
	var list []wanted
	for _, w := range p.wanted {
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b wanted) int {
		return cmp.Or(cmp.Compare(a.why, b.why), cmp.Compare(a.place, b.place), a.at.Compare(b.at), strings.Compare(a.id, b.id))
	})
	changes := 0
	return slices.DeleteFunc(list, func(w wanted) bool {
		if w.why != changed {
			return false
		}
		changes++
		if changes > MostIssues {
			p.cut = earlier(p.cut, w.at)
		}
		return changes > MostIssues
	})
}

// clip limits an issue. One that has changed as late as the newest one can change again
// at the same time, in the unit of the tracker's times.
func (p *pass) clip(r coppice.IssueRead) coppice.IssueRead {
	r = ClipIssue(r)
	if !r.UpdatedAt.Before(p.newest) {
		r = unsettled(r)
	}
	return r
}

// unsettled returns an issue that differs from the one that a tracker will list.
func unsettled(r coppice.IssueRead) coppice.IssueRead {
	if !r.UpdatedAt.IsZero() {
		r.UpdatedAt = r.UpdatedAt.Add(-1)
	}
	return r
}

// ClipIssue limits the lengths and numbers of the texts of an issue, puts its labels
// and people in order, and removes the comments of Coppice.
func ClipIssue(r coppice.IssueRead) coppice.IssueRead {
	r.UpdatedAt = r.UpdatedAt.UTC()
	for _, s := range []*string{&r.ID, &r.URL, &r.Title, &r.Author, &r.State, &r.Parent} {
		*s = head(*s, maxName)
	}
	r.Text = head(r.Text, coppice.MaxIssueText)
	for list, most := range map[*[]string]int{&r.Labels: maxLabels, &r.Assignees: maxLabels, &r.Links: coppice.MaxIssueLinks, &r.BlockedBy: coppice.MaxIssueLinks, &r.Children: coppice.MaxIssueLinks} {
		*list = slices.Clone((*list)[:min(len(*list), most)])
		for i := range *list {
			(*list)[i] = head((*list)[i], maxName)
		}
	}
	slices.Sort(r.Labels)
	slices.Sort(r.Assignees)
	r.Comments = slices.DeleteFunc(slices.Clone(r.Comments), coppice.IssueComment.Ours)
	r.Comments = r.Comments[max(0, len(r.Comments)-coppice.MaxIssueComments):]
	for i := range r.Comments {
		c := &r.Comments[i]
		c.Author, c.Text, c.At = head(c.Author, maxName), head(c.Text, coppice.MaxIssueComment), c.At.UTC()
	}
	return r
}

// WriteIssue changes an issue. It first looks for what it would do, so that a change
// that is repeated after a crash happens one time.
func WriteIssue(ctx context.Context, t Tracker, spec coppice.TrackerWriteSpec) (coppice.TrackerWriteResult, error) {
	if spec.Issue == "" || spec.Comment != "" && spec.Key == "" {
		return coppice.TrackerWriteResult{}, coppice.Errorf(coppice.EInvalid, "the issue, or the key of its task, is missing")
	}
	r, err := t.Issue(ctx, spec.Issue)
	if err != nil {
		return coppice.TrackerWriteResult{}, err
	}
	wrote := false
	if spec.Comment != "" {
		if wrote, err = putComment(ctx, t, spec); err != nil {
			return coppice.TrackerWriteResult{}, err
		}
	}
	if edit := missing(unchanged(spec, r), r); !edit.IsZero() {
		if err := t.Edit(ctx, spec.Issue, edit); err != nil {
			return coppice.TrackerWriteResult{}, err
		}
		wrote = true
	}
	if wrote {
		if r, err = t.Issue(ctx, spec.Issue); err != nil {
			return coppice.TrackerWriteResult{}, err
		}
	}
	return coppice.TrackerWriteResult{Issue: unsettled(ClipIssue(r))}, nil
}

// unchanged returns the edit without the title and the description that somebody has
// changed since Coppice read them.
func unchanged(spec coppice.TrackerWriteSpec, r coppice.IssueRead) coppice.IssueEdit {
	e, was := spec.Edit, spec.Was
	if was == nil {
		return e
	}
	r = ClipIssue(r)
	if r.Title != was.Title {
		e.Title = nil
	}
	if plain(r.Text) != plain(was.Text) {
		e.Text = nil
	}
	return e
}

// missing returns the part of an edit that an issue does not have. Only the tracker
// knows which state it has for a status.
func missing(e coppice.IssueEdit, r coppice.IssueRead) coppice.IssueEdit {
	if e.Title != nil && *e.Title == r.Title {
		e.Title = nil
	}
	if e.Text != nil && plain(*e.Text) == plain(r.Text) {
		e.Text = nil
	}
	if e.Closed != nil && *e.Closed == r.Closed {
		e.Closed = nil
	}
	has := func(name string) bool { return containsFold(r.Labels, name) }
	e.Add = slices.DeleteFunc(slices.Clone(e.Add), has)
	e.Drop = slices.DeleteFunc(slices.Clone(e.Drop), func(name string) bool { return !has(name) })
	return e
}

// putComment writes the status comment, or edits the one that the issue has.
func putComment(ctx context.Context, t Tracker, spec coppice.TrackerWriteSpec) (wrote bool, err error) {
	marker := coppice.IssueMarker(spec.Key)
	text := strings.TrimRight(head(spec.Comment, mostWritten), "\n") + "\n\n" + marker
	list, err := t.Comments(ctx, spec.Issue)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(list, func(c coppice.IssueComment) bool { return c.Own && strings.Contains(c.Text, marker) })
	if i < 0 {
		return true, t.AddComment(ctx, spec.Issue, text)
	}
	if plain(list[i].Text) == plain(text) {
		return false, nil
	}
	err = t.EditComment(ctx, spec.Issue, list[i].ID, text)
	if coppice.ErrorCode(err) == coppice.ENotFound { // somebody deleted it just now
		err = t.AddComment(ctx, spec.Issue, text)
	}
	return true, err
}

// plain returns a text without what trackers change when they store it.
func plain(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// later returns the later time, and earlier the earlier one. The zero time is none.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
