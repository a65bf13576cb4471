package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
)

// criticalTail is how much of the end of a failed session's output is searched
// for signs of a broken environment.
const criticalTail = 256 << 10

// Accept returns the result of work as it is stored: with secrets masked, and
// with the failure of a session that failed because of the environment. It runs
// before the result is stored, and is safe to repeat.
func (l *Ledger) Accept(ctx context.Context, w coppice.Work, result json.RawMessage, fail *coppice.Failure) (json.RawMessage, *coppice.Failure, error) {
	l.cfg.Live.end(w.ID, w.Attempt)
	if fail != nil {
		return nil, l.hide(fail), nil
	}
	switch w.Kind {
	case coppice.WorkRun:
		return edited(result, func(r *coppice.RunResult) error {
			r.Diff = l.cfg.Redact.String(r.Diff)
			r.Summary, r.Failure = l.cfg.Redact.String(r.Summary), l.hide(r.Failure)
			if err := l.critical(ctx, w, r); err != nil {
				return err
			}
			if err := l.endsWithError(ctx, w, r); err != nil {
				return err
			}
			return l.priced(ctx, w, r)
		})
	case coppice.WorkPreview:
		return edited(result, func(r *coppice.PreviewResult) error {
			r.Failure = l.hide(r.Failure)
			return nil
		})
	case coppice.WorkHook:
		return edited(result, func(r *coppice.HookResult) error {
			r.Output = l.cfg.Redact.String(r.Output)
			return nil
		})
	case coppice.WorkForgeRead:
		return edited(result, func(r *coppice.ForgeReadResult) error {
			for i := range r.Pulls {
				r.Pulls[i].Read.EachText(l.cfg.Redact.String)
			}
			return nil
		})
	case coppice.WorkTrackerRead:
		return edited(result, func(r *coppice.TrackerReadResult) error {
			for i := range r.Issues {
				r.Issues[i].EachText(l.cfg.Redact.String)
			}
			return nil
		})
	case coppice.WorkTrackerWrite:
		return edited(result, func(r *coppice.TrackerWriteResult) error {
			r.Issue.EachText(l.cfg.Redact.String)
			return nil
		})
	case coppice.WorkCheck:
		return edited(result, func(r *coppice.CheckResult) error {
			for i := range r.Checks {
				c := &r.Checks[i]
				if c.Log = l.cfg.Redact.String(c.Log); !c.Passed() {
					c.ErrorLine = coppice.FirstError(c.Log)
				}
			}
			return nil
		})
	}
	return result, nil, nil
}

// edited returns a result after an edit. The settler reports a result that cannot be
// decoded.
func edited[T any](result json.RawMessage, edit func(*T) error) (json.RawMessage, *coppice.Failure, error) {
	r, err := coppice.DecodeResult[T](coppice.Work{Result: result})
	if err != nil {
		return result, nil, nil //nolint:nilerr // see above
	}
	if err := edit(&r); err != nil {
		return nil, nil, err
	}
	return coppice.Raw(r), nil, nil
}

// priced adds the cost of a session whose agent reports only tokens.
func (l *Ledger) priced(ctx context.Context, w coppice.Work, res *coppice.RunResult) error {
	if res.Usage == (coppice.Usage{}) || res.Usage.CostUSD != 0 && !res.Usage.Priced {
		return nil
	}
	own := l.cfg.Prices()
	return l.cfg.Store.View(ctx, func(r store.Reader) error {
		s, err := r.Sessions.Get(w.SessionID)
		if err != nil {
			return err
		}
		table, err := prices(r, w.ProjectID, own)
		res.Usage = table.Cost(s.Model, res.Usage)
		return err
	})
}

// hide masks the secrets in a failure.
func (l *Ledger) hide(f *coppice.Failure) *coppice.Failure {
	if f == nil {
		return nil
	}
	c := *f
	c.Text, c.Fix = l.cfg.Redact.String(f.Text), l.cfg.Redact.String(f.Fix)
	return &c
}

// critical searches the output of a failed session for the project's patterns of
// a broken environment. A failure with its own remedy, such as a limit, does not
// change.
func (l *Ledger) critical(ctx context.Context, w coppice.Work, res *coppice.RunResult) error {
	if !failed(*res) {
		return nil
	}
	return l.cfg.Store.View(ctx, func(r store.Reader) error {
		p, err := r.Projects.Get(w.ProjectID)
		if err != nil || len(p.Policy.Critical) == 0 {
			return err
		}
		text, err := tail(r, w.SessionID, criticalTail)
		if res.Failure != nil {
			text += "\n" + res.Failure.Text
		}
		if f := p.Policy.Broken(text); f != nil && err == nil {
			res.Failure = f
		}
		return err
	})
}

// lastEvents is how many of the last events of a session are searched for an error.
const lastEvents = 20

// endsWithError stores in the result of a session that succeeded whether its output
// ends with an error: its agent reported one in its last events, or its final
// message starts with one. It does so if the session's spec asks for it.
func (l *Ledger) endsWithError(ctx context.Context, w coppice.Work, res *coppice.RunResult) error {
	res.Error = ""
	spec, err := coppice.DecodeSpec[coppice.RunSpec](w)
	if err != nil || !spec.NoErrors || res.Stopped || res.Lost || res.Failure != nil {
		return nil // the settler reports a spec that cannot be read
	}
	if coppice.StartsWithError(res.Summary) {
		res.Error = coppice.FirstLine(res.Summary)
		return nil
	}
	return l.cfg.Store.View(ctx, func(r store.Reader) error {
		res.Error, err = reportedError(r, w.SessionID)
		return err
	})
}

// reportedError returns the newest error among the last events of a session, or "".
// Silent events do not count.
func reportedError(r store.Reader, session int64) (string, error) {
	s, err := r.Sessions.Get(session)
	if err != nil {
		return "", err
	}
	for before, seen := s.Cursor, 0; ; {
		out, err := r.Outputs.Before(session, before, tailPage, coppice.OutputEvent)
		if err != nil || len(out) == 0 {
			return "", err
		}
		for _, o := range slices.Backward(out) {
			e, ok := coppice.ReadAgentEvent(o.Data)
			switch {
			case !ok || e.Kind.Silent():
				continue
			case e.Kind == coppice.KindError:
				return cmp.Or(coppice.FirstLine(e.Text), string(e.Class), "an error without a text"), nil
			}
			if seen++; seen == lastEvents {
				return "", nil
			}
		}
		before = out[0].Offset
	}
}

// failed reports whether a session failed with an unknown cause.
func failed(r coppice.RunResult) bool {
	if r.Stopped {
		return false
	}
	if r.Failure == nil {
		return r.Signal != "" || r.Exit == nil || *r.Exit != 0
	}
	switch r.Failure.Class {
	case coppice.ClassRateLimit, coppice.ClassOverload, coppice.ClassAuth, coppice.ClassBilling, coppice.ClassBudget, coppice.ClassCancelled:
		return false
	}
	return true
}

// tailPage is how many pieces of output are read in one query.
const tailPage = 512

// tail returns the end of the output of the session's processes.
func tail(r store.Reader, session, most int64) (string, error) {
	s, err := r.Sessions.Get(session)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for after := max(s.Cursor-most, 0) - 1; ; {
		out, err := r.Outputs.After(session, after, tailPage, coppice.OutputStdout, coppice.OutputStderr, coppice.OutputApp)
		if err != nil || len(out) == 0 {
			return b.String(), err
		}
		for _, o := range out {
			b.Write(o.Data)
			after = o.Offset
		}
	}
}
