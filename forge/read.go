package forge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"coppice"
)

// Parallel is how many pull requests Read reads at the same time.
const Parallel = 4

// maxLabels limits the labels of a request, and maxName the bytes of a name or an
// address that people on the forge choose.
const (
	maxLabels = 50
	maxName   = 1 << 10
)

// Read reads the pull requests of a project: the list of recent changes, and each
// request that is asked for as a whole or that differs from what the caller knows. With
// coppice.ForgeNamed it does not read the list.
// A request that does not exist any more is reported as closed.
//
// A request that the forge cannot deliver is missing in the result, so that it does
// not block the others. Read fails if there are only such requests.
func Read(ctx context.Context, f Forge, spec coppice.ForgeReadSpec) (coppice.ForgeReadResult, error) {
	var recent []Brief
	var err error
	if spec.Scope != coppice.ForgeNamed {
		if recent, err = f.Recent(ctx); err != nil {
			return coppice.ForgeReadResult{}, err
		}
	}
	var result coppice.ForgeReadResult
	if spec.Base != "" {
		result.Tip, err = f.Tip(ctx, spec.Base)
		if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
			return coppice.ForgeReadResult{}, err
		}
	}
	briefs := map[int]Brief{}
	for _, b := range recent {
		briefs[b.Number] = b
	}
	wanted := slices.DeleteFunc(slices.Clone(spec.Pulls), func(w coppice.PullWant) bool { return w.Number == 0 || !w.Whole && !differs(w, briefs) })
	seen, err := readEach(ctx, f, wanted)
	if err != nil && (fatal(err) || len(seen) == 0) {
		return coppice.ForgeReadResult{}, err
	}
	result.Pulls = seen
	return result, nil
}

// differs reports whether the list shows a change of a request that was open. The
// list does not have a request that has not changed for long.
func differs(w coppice.PullWant, briefs map[int]Brief) bool {
	b, listed := briefs[w.Number]
	return listed && (b.State != coppice.PullOpen || b.Head != w.Head || !b.UpdatedAt.Equal(w.UpdatedAt))
}

// fatal reports whether further requests to the forge would fail, too.
func fatal(err error) bool {
	var f *coppice.Failure
	return errors.As(err, &f) && f.Class != coppice.ClassEnvironment || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// readEach reads requests in parallel. The result is in the order of the wanted
// ones. The error is a fatal one, or else the first one.
func readEach(ctx context.Context, f Forge, wanted []coppice.PullWant) ([]coppice.PullSeen, error) {
	reads := make([]coppice.PullRead, len(wanted))
	errs, err := parallel(ctx, len(wanted), func(ctx context.Context, i int) error {
		w := wanted[i]
		r, err := f.Read(ctx, w.Number)
		if coppice.ErrorCode(err) == coppice.ENotFound {
			r, err = coppice.PullRead{Number: w.Number, State: coppice.PullClosed, Head: w.Head, UpdatedAt: w.UpdatedAt}, nil
		}
		reads[i] = Clip(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	var seen []coppice.PullSeen
	for i, w := range wanted {
		switch {
		case errs[i] == nil:
			seen = append(seen, coppice.PullSeen{Task: w.Task, Read: reads[i]})
		case err == nil:
			err = errs[i]
		}
	}
	return seen, err
}

// parallel calls do for each number below n, Parallel at the same time. It returns
// their errors. After a fatal one it ends, and returns that.
func parallel(ctx context.Context, n int, do func(context.Context, int) error) ([]error, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, n)
	slots := make(chan struct{}, Parallel)
	var wg sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if errs[i] = context.Cause(ctx); errs[i] != nil {
				return
			}
			if errs[i] = do(ctx, i); fatal(errs[i]) {
				cancel(errs[i])
			}
		})
	}
	wg.Wait()
	return errs, context.Cause(ctx)
}

// Clip limits the lengths and numbers of the texts of a request. It keeps the newest
// comments, the failed checks before others, and the ends of logs.
func Clip(r coppice.PullRead) coppice.PullRead {
	for _, s := range []*string{&r.URL, &r.Title, &r.Author, &r.Branch, &r.Base} {
		*s = head(*s, maxName)
	}
	r.Labels = slices.Clone(r.Labels[:min(len(r.Labels), maxLabels)])
	for i := range r.Labels {
		r.Labels[i] = head(r.Labels[i], maxName)
	}
	r.Comments = slices.Clone(r.Comments[max(0, len(r.Comments)-coppice.MaxPullComments):])
	for i := range r.Comments {
		c := &r.Comments[i]
		c.Author, c.Path, c.Text = head(c.Author, maxName), head(c.Path, maxName), head(c.Text, coppice.MaxPullComment)
	}
	r.Checks = slices.Clone(r.Checks)
	if len(r.Checks) > coppice.MaxPullChecks {
		slices.SortStableFunc(r.Checks, func(a, b coppice.PullCheck) int { return failedFirst(a) - failedFirst(b) })
		r.Checks = r.Checks[:coppice.MaxPullChecks]
		slices.SortStableFunc(r.Checks, func(a, b coppice.PullCheck) int { return strings.Compare(a.Name, b.Name) })
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Name, c.URL, c.Text, c.Log = head(c.Name, maxName), head(c.URL, maxName), coppice.FirstLine(head(c.Text, maxName)), tail(c.Log, coppice.MaxPullLog)
	}
	return r
}

func failedFirst(c coppice.PullCheck) int {
	if c.State == coppice.CIFailed {
		return 0
	}
	return 1
}

// head returns at most n bytes of the start of a text, as valid UTF-8.
func head(s string, n int) string {
	if len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "?")
}

// tail returns at most n bytes of the end of a text, as valid UTF-8.
func tail(s string, n int) string {
	if len(s) > n {
		i := len(s) - n
		for i < len(s) && !utf8.RuneStart(s[i]) {
			i++
		}
		s = s[i:]
	}
	return strings.ToValidUTF8(s, "?")
}
