package workspace

import (
	"context"
	"fmt"

	"coppice"
)

// Stat returns how much changed in each file from one commit to another, in at most
// fifty lines, or "".
func (w *Workspaces) Stat(ctx context.Context, path, from, to string) (string, error) {
	if from == to || coppice.ValidHash(from) != nil || coppice.ValidHash(to) != nil {
		return "", nil
	}
	out, err := w.Git.Run(ctx, path, "diff", "--stat=100", "--stat-count=50", "--no-ext-diff", "--no-textconv", "--no-color", from, to, "--")
	if err != nil {
		return "", fmt.Errorf("comparing %s with %s: %w", from, to, err)
	}
	return out, nil
}
