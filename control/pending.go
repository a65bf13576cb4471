package control

import (
	"context"
	"fmt"

	"coppice"
	"coppice/store"
)

// pendingWords describe the work of git that a stop waits for.
var pendingWords = map[coppice.WorkKind]string{
	coppice.WorkPush:    "git to finish pushing %s",
	coppice.WorkMove:    "git to finish the landing of %s",
	coppice.WorkMerge:   "git to finish merging %s",
	coppice.WorkRemove:  "git to finish removing the workspace of %s",
	coppice.WorkRestore: "git to finish restoring the workspace of %s",
	coppice.WorkPurge:   "git to finish emptying the trash of %s",
	coppice.WorkStrays:  "git to finish removing the stray branches of %s",
	coppice.WorkBranch:  "git to finish with the branch of the flow %s",

	coppice.WorkPullPush: "git to finish pushing the branch of %s",
}

// Pending returns what a stop waits for, by the running work.
func Pending(ctx context.Context, s store.Store, work []coppice.Work) []string {
	var out []string
	err := s.View(ctx, func(r store.Reader) error {
		out = nil
		for _, w := range work {
			if w.TaskID == 0 {
				out = append(out, "git to finish with the base")
				continue
			}
			t, err := r.Tasks.Get(w.TaskID)
			if err != nil {
				return err
			}
			out = append(out, fmt.Sprintf(pendingWords[w.Kind], t.Key))
		}
		return nil
	})
	if err != nil {
		return nil // the store is closed, so there is nothing to wait for
	}
	return out
}
