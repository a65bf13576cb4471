package secret

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"unicode/utf8"

	"coppice"
)

// keyring describes how to use the keyring of an operating system: by a program,
// which gets a value on its stdin and never as an argument.
type keyring struct {
	read   func(name string) (argv []string)
	store  func(name, value string) (argv []string, stdin string)
	remove func(name string) (argv []string)
	absent func(failed) bool // whether a command failed because there is no such entry
	most   int               // how long a value can be
	plain  bool              // a value is one line of ASCII: the program prints any other in another form
	help   string            // how to get the program
}

// service is in all entries of Coppice.
const service = "coppice"

// keyrings has the keyrings by operating system. Values of more than a page go
// into a file.
var keyrings = map[string]keyring{
	"linux": {
		read: func(name string) []string { return []string{"secret-tool", "lookup", "service", service, "name", name} },
		store: func(name, value string) ([]string, string) {
			return []string{"secret-tool", "store", "--label=Coppice: " + name, "service", service, "name", name}, value
		},
		remove: func(name string) []string { return []string{"secret-tool", "clear", "service", service, "name", name} },
		absent: func(f failed) bool { return f.code == 1 && f.quiet },
		most:   4 << 10,
		help:   "install secret-tool (libsecret-tools), or store the secret without --keyring",
	},
	"darwin": {
		read: func(name string) []string {
			return []string{"security", "find-generic-password", "-s", service, "-a", name, "-w"}
		},
		// The program takes a value as an argument only, so it is given the whole
		// command on stdin: a line of at most 4 KiB, the value in hexadecimal.
		store: func(name, value string) ([]string, string) {
			return []string{"security", "-i"}, fmt.Sprintf("add-generic-password -U -s %s -a %s -X %s\n", service, name, hex.EncodeToString([]byte(value)))
		},
		remove: func(name string) []string {
			return []string{"security", "delete-generic-password", "-s", service, "-a", name}
		},
		absent: func(f failed) bool { return f.code == 44 },
		most:   1900,
		plain:  true,
		help:   "use a Mac's own security program, or store the secret without --keyring",
	},
}

// keyring returns the keyring of this system.
func (r *Resolver) keyring() (keyring, error) {
	k, ok := keyrings[r.System]
	if !ok {
		return k, coppice.Errorf(coppice.EUnavailable, "Coppice has no support for a keyring on %s", r.System).
			WithFix("use env, file or command; keyrings work on %s", strings.Join(slices.Sorted(maps.Keys(keyrings)), " and "))
	}
	return k, nil
}

func (r *Resolver) fromKeyring(ctx context.Context, s Source) (string, error) {
	k, err := r.keyring()
	if err != nil {
		return "", err
	}
	value, err := r.run(ctx, k.read(s.Keyring), "")
	if k.missing(err) || err == nil && strings.TrimSpace(value) == "" {
		return "", coppice.Errorf(coppice.ENotFound, "the keyring has no entry %s of the service %s", coppice.Quote(s.Keyring), service).
			WithFix("store it with `coppice secret set --keyring`")
	}
	return value, k.explain(err)
}

// missing reports whether a command failed because there is no such entry.
func (k keyring) missing(err error) bool {
	var f *failed
	return errors.As(err, &f) && k.absent(*f)
}

// explain gives an error of the keyring's program its fix.
func (k keyring) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return coppice.Public(err).WithFix("%s", k.help)
	}
	return coppice.Public(err).WithFix("check that the keyring is unlocked, or store the secret without --keyring")
}

// WriteKeyring stores a value in the keyring.
func (r *Resolver) WriteKeyring(ctx context.Context, name, value string) error {
	k, err := r.keyring()
	if err != nil {
		return err
	}
	odd := func(c rune) bool { return c < ' ' || c >= utf8.RuneSelf }
	if len(value) > k.most || k.plain && strings.ContainsFunc(value, odd) {
		return coppice.Errorf(coppice.ETooLarge, "the keyring cannot hold the value of %s: it is too long, or not one line of plain text", name).
			WithFix("store it without --keyring")
	}
	argv, stdin := k.store(name, value)
	_, err = r.run(ctx, argv, stdin)
	return k.explain(err)
}

// RemoveKeyring removes a value from the keyring. A missing one is not an error.
func (r *Resolver) RemoveKeyring(ctx context.Context, name string) error {
	k, err := r.keyring()
	if err != nil {
		return err
	}
	if _, err = r.run(ctx, k.remove(name), ""); k.missing(err) {
		return nil
	}
	return k.explain(err)
}
