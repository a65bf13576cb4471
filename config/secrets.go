package config

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"coppice"
	"coppice/internal/redact"
	"coppice/secret"
)

// Secrets are the secrets in the user's configuration. The file is read for
// each call, so changes need no restart.
type Secrets struct {
	Environ []string // Coppice's own environment
	Redact  *redact.Redactor
	System  string // the operating system whose keyring is used; default: this one
}

// Resolve returns the value of a secret. See secret.Resolver.
func (s Secrets) Resolve(ctx context.Context, name string) (string, error) {
	r, err := s.Resolver()
	if err != nil {
		return "", err
	}
	return r.Resolve(ctx, name)
}

// Resolver reads the user's configuration and returns a Resolver for it.
func (s Secrets) Resolver() (*secret.Resolver, error) {
	dir, err := secret.UserDir(s.Environ)
	if err != nil {
		return nil, err
	}
	u, _, err := LoadUser(dir)
	if err != nil {
		return nil, err
	}
	r := &secret.Resolver{Sources: u.Secrets, Dir: dir, Environ: s.Environ, Redact: s.Redact, System: s.System}
	if r.System == "" {
		r.System = runtime.GOOS
	}
	return r, nil
}

// Set stores a value, in a file of the user's configuration or in the keyring,
// and names it in config.yaml. It refuses the name of a secret that has another
// source.
func (s Secrets) Set(ctx context.Context, name, value string, keyring bool) (secret.Source, error) {
	value = strings.TrimRight(value, "\r\n")
	if err := errors.Join(secret.ValidName(name), secret.CheckValue(name, value)); err != nil {
		return secret.Source{}, err
	}
	to := secret.StoredFile(name)
	if keyring {
		to = secret.Source{Keyring: name}
	}
	return to, s.change(ctx, func(r *secret.Resolver) error {
		s.Redact.Add(value)
		old, known := r.Sources[name]
		if known && !stored(name, old) {
			return coppice.Errorf(coppice.EConflict, "the secret %s has another source: %s", name, old).
				WithFix("change it in %s, or run `coppice secret remove %s` first", filepath.Join(r.Dir, UserFile), name)
		}
		for _, other := range slices.Sorted(maps.Keys(r.Sources)) {
			if other != name && strings.EqualFold(other, name) {
				return coppice.Errorf(coppice.EConflict, "the secret %s exists, and its name differs only in case", other).WithFix("use another name")
			}
		}
		if err := keep(ctx, r, name, value, keyring); err != nil {
			return err
		}
		if _, err := applyUser(r.Dir, Change{Key: "secrets." + name, Value: coppice.Raw(to)}, ""); err != nil {
			return err
		}
		if known && !reflect.DeepEqual(old, to) {
			return discard(ctx, r, name, old)
		}
		return nil
	})
}

// keep stores a value.
func keep(ctx context.Context, r *secret.Resolver, name, value string, keyring bool) error {
	if keyring {
		return r.WriteKeyring(ctx, name, value)
	}
	return secret.WriteFile(r.Dir, name, value)
}

// Remove removes a secret from config.yaml, and its value if Set stored it.
func (s Secrets) Remove(ctx context.Context, name string) (was secret.Source, err error) {
	if err := secret.ValidName(name); err != nil {
		return was, err
	}
	err = s.change(ctx, func(r *secret.Resolver) error {
		var known bool
		if was, known = r.Sources[name]; !known {
			return coppice.Errorf(coppice.ENotFound, "there is no secret %s", name).WithFix("see `coppice secret list`")
		}
		if err := discard(ctx, r, name, was); err != nil {
			return err
		}
		_, err := applyUser(r.Dir, Change{Key: "secrets." + name, Unset: true}, "")
		return err
	})
	return was, err
}

// stored reports whether Set stored the value in that source.
func stored(name string, s secret.Source) bool {
	return s.Keyring == name || s.File == secret.StoredFile(name).File
}

// discard removes a value that Set stored.
func discard(ctx context.Context, r *secret.Resolver, name string, s secret.Source) error {
	switch {
	case !stored(name, s):
		return nil
	case s.Keyring != "":
		return r.RemoveKeyring(ctx, name)
	}
	return secret.RemoveFile(r.Dir, name)
}

// change runs f while no other process changes the user's configuration.
func (s Secrets) change(ctx context.Context, f func(*secret.Resolver) error) error {
	dir, err := secret.UserDir(s.Environ)
	if err != nil {
		return err
	}
	return whileLocked(ctx, dir, func() error {
		r, err := s.Resolver()
		if err != nil {
			return err
		}
		return f(r)
	})
}
