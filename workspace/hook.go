package workspace

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"coppice"
	"coppice/internal/environ"
	"coppice/internal/process"
)

// runVar marks the processes of one run of a hook, so that they are found if the
// server ends while they run.
const runVar = "COPPICE_HOOK_RUN"

// Hook runs the command of a hook in the root of a project's checkout, or in the
// home directory. If an earlier server started the same run, it ends what is left
// of that first. It is an error if the command could not be started.
func (w *Workspaces) Hook(ctx context.Context, spec coppice.HookSpec) (coppice.HookResult, error) {
	sum := sha256.Sum256([]byte(w.Dir + "\x00" + spec.Key))
	mark := runVar + "=" + hex.EncodeToString(sum[:16])
	if _, err := process.Sweep(ctx, process.Mark{Env: mark}); err != nil {
		return coppice.HookResult{}, fmt.Errorf("ending an earlier run of the hook: %w", err)
	}
	dir := cmp.Or(spec.Dir, environ.Get(w.env, "HOME"), "/")
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return coppice.HookResult{}, coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the directory %s, in which the hook runs, does not exist", dir), "create it, or remove the project")
	}
	began := w.Now()
	e, err := runShellWith(ctx, dir, w.CommandEnv(spec.PassEnv, append(spec.Env, mark)), spec.Run, spec.Timeout.D(), bytes.NewReader(append(spec.Input, '\n')), coppice.MaxHookOutput)
	if err != nil {
		return coppice.HookResult{}, err
	}
	return coppice.HookResult{Exit: e.exit, Signal: e.signal, TimedOut: e.late, Output: e.log, Took: max(w.Now().Sub(began), 0)}, nil
}
