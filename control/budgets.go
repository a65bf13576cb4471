package control

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"coppice"
	"coppice/config"
)

// Budgets follows the budgets of accounts, the hooks and the notifiers in the user's configuration.
// A change applies immediately. While the file cannot be read, the last budgets apply, and
// the log says why one time.
type Budgets struct {
	Environ []string // of the server; it names the user's directories
	Set     func(context.Context, map[string]coppice.USD) error
	Hooks   func(coppice.Hooks)        // gets the hooks; can be nil
	Notify  func(coppice.NotifyPolicy) // gets the notifiers and routes; can be nil
	Log     *slog.Logger

	logged string // the last error that was logged
}

// Run stores the budgets whenever they change, until ctx ends.
func (b *Budgets) Run(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		b.report("the user's configuration cannot be watched: run coppice serve again after each edit of budget.accounts", err)
		b.read(ctx)
		return nil
	}
	defer watcher.Close() // nothing was written
	for {
		b.watch(watcher) // a folder might have been created or replaced
		b.read(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events:
		case err := <-watcher.Errors:
			b.report("watching the user's configuration failed", err)
		}
	}
}

// read stores the budgets as the file has them now.
func (b *Budgets) read(ctx context.Context) {
	u, _, err := config.UserOf(b.Environ)
	if err == nil && b.Hooks != nil {
		b.Hooks(u.Hooks)
	}
	if err == nil && b.Notify != nil {
		b.Notify(u.Notify)
	}
	if err == nil {
		err = b.Set(ctx, u.Budget.Accounts)
	}
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		b.logged = ""
		return
	}
	b.report("the budgets of accounts, the hooks and the notifiers in the user's configuration cannot be read; the last ones apply", err)
}

func (b *Budgets) report(text string, err error) {
	if b.logged != err.Error() {
		b.logged = err.Error()
		b.Log.Error(text, "error", err)
	}
}

// watch watches the folder of the file, which is never a link. If the folder does
// not exist, it watches the nearest one above it that does.
func (b *Budgets) watch(watcher *fsnotify.Watcher) {
	path, err := config.UserPath(b.Environ)
	if err != nil {
		return // without a home directory there is no such file
	}
	for dir := filepath.Dir(path); watcher.Add(dir) != nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
	}
}
