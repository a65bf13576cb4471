package secret

import (
	"context"
	"errors"
	"strings"
	"time"

	"coppice"
	"coppice/internal/environ"
	"coppice/internal/redact"
)

// Resolver resolves secrets from their sources. It is safe for concurrent use.
type Resolver struct {
	Sources map[string]Source
	Dir     string   // the user's configuration, which relative files are below
	Environ []string // Coppice's own environment
	Redact  *redact.Redactor
	System  string        // the operating system, whose keyring is used
	Within  time.Duration // how long a command can take; 0 means 30 seconds
}

// kind is a kind of source: its text, and how its value is read.
type kind struct {
	name string
	text func(Source) string // "" if it is not set
	read func(*Resolver, context.Context, Source) (string, error)
}

var kinds = []kind{
	{KindEnv, func(s Source) string { return s.Env }, (*Resolver).fromEnv},
	{KindFile, func(s Source) string { return s.File }, (*Resolver).fromFile},
	{KindCommand, func(s Source) string { return strings.Join(s.Command, " ") }, (*Resolver).fromCommand},
	{KindKeyring, func(s Source) string { return s.Keyring }, (*Resolver).fromKeyring},
}

// Resolve returns the value of a secret. Newlines at its end are not part of it.
// Errors have a fix and never contain the value.
func (r *Resolver) Resolve(ctx context.Context, name string) (string, error) {
	if err := ValidName(name); err != nil {
		return "", err
	}
	source, known := r.Sources[name]
	if !known {
		return "", coppice.Errorf(coppice.ENotFound, "the secret %s is not set", name).WithFix("run: coppice secret set %s", name)
	}
	k, ok := source.kind()
	if !ok {
		return "", coppice.Errorf(coppice.EInvalid, "the secret %s has no source, or more than one", name).
			WithFix("give it one of env, file, command and keyring in the user's configuration")
	}
	value, err := k.read(r, ctx, source)
	if err != nil {
		var e *coppice.Error
		if errors.As(err, &e) {
			named := coppice.Errorf(e.Code, "the secret %s cannot be read: %s", name, e.Cause)
			named.Err = e
			return "", named.WithFix("%s", e.Fix)
		}
		return "", err
	}
	value = strings.TrimRight(value, "\r\n")
	if err := CheckValue(name, value); err != nil {
		return "", err
	}
	r.Redact.Add(value)
	return value, nil
}

func (r *Resolver) fromEnv(_ context.Context, s Source) (string, error) {
	value := environ.Get(r.Environ, s.Env)
	if value == "" {
		return "", coppice.Errorf(coppice.ENotFound, "the variable %s is not set in Coppice's environment", s.Env).
			WithFix("set %s where the server is started, and start the server again", s.Env)
	}
	return value, nil
}

func (r *Resolver) fromFile(_ context.Context, s Source) (string, error) {
	path, err := Path(r.Dir, r.Environ, s.File)
	if err != nil {
		return "", err
	}
	b, err := ReadPrivate(path, MaxValue+2) // with a line break at its end
	return string(b), err
}
