package forge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"coppice"
)

// Write carries out a change on a forge. It first looks for what it would do, so
// that a change that is repeated after a crash happens one time.
func Write(ctx context.Context, f Forge, spec coppice.ForgeWriteSpec) (coppice.ForgeWriteResult, error) {
	op := map[coppice.ForgeOp]func(context.Context, Forge, coppice.ForgeWriteSpec) (coppice.ForgeWriteResult, error){
		coppice.ForgePut: put, coppice.ForgeMerge: merge, coppice.ForgeComment: comment, coppice.ForgeResolve: resolve, coppice.ForgeClose: closePull,
	}[spec.Op]
	switch {
	case op == nil:
		return coppice.ForgeWriteResult{}, coppice.Errorf(coppice.EInvalid, "%s is not a change that a forge can do", coppice.Quote(string(spec.Op)))
	case spec.Number == 0 && spec.Op != coppice.ForgePut:
		return coppice.ForgeWriteResult{}, coppice.Errorf(coppice.EInvalid, "the number of the pull request is missing")
	}
	return op(ctx, f, spec)
}

// put opens the pull request of a branch, or makes it look like the text. A request
// that has ended stays as it is. If it is the one before, a new one is opened.
func put(ctx context.Context, f Forge, spec coppice.ForgeWriteSpec) (coppice.ForgeWriteResult, error) {
	text := spec.Text
	if marker := coppice.PullMarker(spec.Key); !strings.Contains(text.Body, marker) {
		text.Body = strings.TrimRight(text.Body, "\n") + "\n\n" + marker
	}
	found, err := lookUp(ctx, f, spec)
	if err != nil {
		return coppice.ForgeWriteResult{}, err
	}
	if found.Number == 0 {
		created, err := f.Create(ctx, text)
		if coppice.ErrorCode(err) != coppice.EConflict || err == nil {
			return resultOf(created), err
		}
		// Another request for the same branch was opened since the forge was asked.
		if found, err = lookUp(ctx, f, spec); err != nil {
			return coppice.ForgeWriteResult{}, err
		}
		if found.Number == 0 {
			return coppice.ForgeWriteResult{}, coppice.Failf(coppice.ClassEnvironment,
				"the forge has a pull request of the branch "+text.Branch+" already, and does not list it", "close that request, or check the permissions of the token")
		}
	}
	if found.State != coppice.PullOpen {
		return resultOf(found), nil
	}
	return resultOf(found), f.Update(ctx, found.Number, text)
}

// lookUp returns the request that the change is about: by its number, else by its
// branch and marker. It returns an empty one if there is none.
func lookUp(ctx context.Context, f Forge, spec coppice.ForgeWriteSpec) (Brief, error) {
	found, err := f.Find(ctx, spec.Text.Branch)
	switch {
	case err != nil && coppice.ErrorCode(err) != coppice.ENotFound:
		return Brief{}, err
	case spec.Number != 0 && found.Number != spec.Number:
		// The branch of a request that Coppice adopted can be in another repository.
		r, err := f.Read(ctx, spec.Number)
		return Brief{Number: r.Number, URL: r.URL, State: r.State, Branch: r.Branch, Head: r.Head}, err
	case spec.Number != 0:
		return found, nil
	case strings.Contains(found.Body, coppice.PullMarker(spec.Key)):
		again := spec.Closed && found.State == coppice.PullMerged && found.Head == spec.Head
		if found.State != coppice.PullOpen && found.Number <= spec.Before && !again {
			return Brief{}, nil // an earlier request of the task; there is more work since
		}
		return found, nil
	case found.State == coppice.PullOpen:
		return Brief{}, coppice.Errorf(coppice.EConflict, "the pull request #%d of the branch %s is open, and Coppice did not open it", found.Number, coppice.Quote(spec.Text.Branch)).
			WithFix("close it, or let a task continue it: coppice pr adopt %d", found.Number)
	}
	return Brief{}, nil
}

// merge merges a request. A request that is merged already is a success.
func merge(ctx context.Context, f Forge, spec coppice.ForgeWriteSpec) (coppice.ForgeWriteResult, error) {
	r, err := f.Read(ctx, spec.Number)
	if err != nil || r.State != coppice.PullOpen {
		return resultOfRead(r), err
	}
	result := resultOfRead(r)
	if spec.Head != "" && r.Head != spec.Head {
		result.Blocked = fmt.Sprintf("the head of the pull request is %.12s, and %.12s was to be merged", r.Head, spec.Head)
		return result, nil
	}
	method := spec.Method
	if method == "" {
		method = coppice.PullMerges[0]
	}
	commit, err := f.Merge(ctx, spec.Number, Merge{Head: spec.Head, Method: method, Title: spec.Text.Title, Message: spec.Text.Body, Auto: spec.Auto})
	var refused *Refused
	switch {
	case errors.As(err, &refused):
		// A forge also refuses to merge what somebody has merged in the meantime.
		if r, err = f.Read(ctx, spec.Number); err != nil || r.State != coppice.PullOpen {
			return resultOfRead(r), err
		}
		result.Blocked = refused.Text
		return result, nil
	case err != nil:
		return coppice.ForgeWriteResult{}, err
	case commit == "":
		result.Auto = true
		return result, nil
	}
	result.State, result.Merged = coppice.PullMerged, commit
	return result, nil
}

// comment adds a comment with a marker, if the request has none with it.
func comment(ctx context.Context, f Forge, spec coppice.ForgeWriteSpec) (coppice.ForgeWriteResult, error) {
	r, err := f.Read(ctx, spec.Number)
	if err != nil {
		return coppice.ForgeWriteResult{}, err
	}
	marker := coppice.PullMarker(spec.Key)
	for _, c := range r.Comments {
		if strings.Contains(c.Text, marker) {
			return resultOfRead(r), nil
		}
	}
	return resultOfRead(r), f.Comment(ctx, spec.Number, strings.TrimRight(spec.Comment, "\n")+"\n\n"+marker)
}

// resolve resolves discussions. One that does not exist any more is resolved.
func resolve(ctx context.Context, f Forge, spec coppice.ForgeWriteSpec) (coppice.ForgeWriteResult, error) {
	for _, thread := range spec.Threads {
		if err := f.Resolve(ctx, spec.Number, thread); err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
			return coppice.ForgeWriteResult{}, err
		}
	}
	return coppice.ForgeWriteResult{Number: spec.Number}, nil
}

// closePull closes a request that is open.
func closePull(ctx context.Context, f Forge, spec coppice.ForgeWriteSpec) (coppice.ForgeWriteResult, error) {
	r, err := f.Read(ctx, spec.Number)
	if err != nil || r.State != coppice.PullOpen {
		return resultOfRead(r), err
	}
	if err := f.Close(ctx, spec.Number); err != nil {
		return coppice.ForgeWriteResult{}, err
	}
	r.State = coppice.PullClosed
	return resultOfRead(r), nil
}

func resultOf(b Brief) coppice.ForgeWriteResult {
	return coppice.ForgeWriteResult{Number: b.Number, URL: b.URL, State: b.State}
}

func resultOfRead(r coppice.PullRead) coppice.ForgeWriteResult {
	return coppice.ForgeWriteResult{Number: r.Number, URL: r.URL, State: r.State, Merged: r.Merged}
}
