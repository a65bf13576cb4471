package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/internal/filelock"
	"coppice/secret"
)

// ApplyUser is Apply for the user's configuration in dir. The file keeps the mode 0600.
// Other processes that change it with Coppice wait.
func ApplyUser(ctx context.Context, dir string, c Change, rev string) (u User, err error) {
	err = whileLocked(ctx, dir, func() (err error) {
		u, err = applyUser(dir, c, rev)
		return err
	})
	return u, err
}

// PreviewUser is Preview for the user's configuration in dir.
func PreviewUser(dir string, c Change, rev string) (string, error) {
	before, after, _, err := prepareUser(dir, c, rev)
	if err != nil || bytes.Equal(before, after) {
		return "", err
	}
	return diffOf(UserFile, before, after), nil
}

// UserValue is Value for the user's configuration.
func UserValue(u User, key string) (json.RawMessage, error) { return valueOf(user, u, key) }

// whileLocked runs f while no other process changes the user's configuration in dir.
func whileLocked(ctx context.Context, dir string, f func() error) error {
	err := os.MkdirAll(dir, 0o700)
	var lock *os.File
	if err == nil {
		lock, err = filelock.Wait(ctx, dir)
	}
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "the directory of the user's configuration cannot be used: %w", err).WithFix("make %s writable", dir)
	}
	defer filelock.Release(lock)
	return f()
}

// applyUser makes a change while the directory is locked.
func applyUser(dir string, c Change, rev string) (User, error) {
	before, after, u, err := prepareUser(dir, c, rev)
	if err != nil || bytes.Equal(before, after) {
		return u, err
	}
	now, err := readUser(dir)
	if err == nil {
		err = unchanged(UserFile, before, now) // an editor does not wait for the lock
	}
	if err == nil {
		err = write(filepath.Join(dir, UserFile), after, 0o600)
	}
	return u, err
}

// readUser returns the text of the user's configuration; nil if there is none.
func readUser(dir string) ([]byte, error) {
	b, err := secret.ReadPrivate(filepath.Join(dir, UserFile), MaxSize)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// prepareUser returns the file before and after a change, and the resulting
// configuration.
func prepareUser(dir string, c Change, rev string) (before, after []byte, u User, err error) {
	path := filepath.Join(dir, UserFile)
	if before, err = readUser(dir); err != nil {
		return nil, nil, u, err
	}
	if err = sameRevision(UserFile, rev, before); err != nil {
		return nil, nil, u, err
	}
	if u, err = ParseUser(path, before); err != nil {
		return nil, nil, u, err
	}
	if name, ok := strings.CutPrefix(c.Key, "notify.notifiers."); ok && c.Unset {
		if err = unnamed(u.Notify, name); err != nil {
			return nil, nil, u, err
		}
	}
	if after, err = edit(user, path, before, c); err != nil {
		return nil, nil, u, err
	}
	u, err = ParseUser(path, after)
	return before, after, u, err
}

// MissingSecrets returns the secrets that each notifier names and that do not exist.
func (u User) MissingSecrets() map[string][]string {
	missing := map[string][]string{}
	for name, n := range u.Notify.Notifiers {
		for _, s := range secret.OfNotifier(n) {
			if _, known := u.Secrets[s]; !known {
				missing[name] = append(missing[name], s)
			}
		}
	}
	return missing
}

// unnamed refuses to remove a notifier that routes name.
func unnamed(p coppice.NotifyPolicy, notifier string) error {
	var routes []string
	for i, r := range p.Routes {
		if slices.Contains(r.To, notifier) {
			routes = append(routes, fmt.Sprint(i+1))
		}
	}
	if len(routes) == 0 {
		return nil
	}
	return coppice.Errorf(coppice.EConflict, "the notifier %s cannot be removed: notify.routes names it, in route %s", notifier, strings.Join(routes, ", ")).
		WithFix("remove it from these routes first")
}
