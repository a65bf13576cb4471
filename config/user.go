package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"coppice"
	"coppice/secret"
)

// UserFile is the name of the user's configuration, in the directory that
// secret.UserDir names.
const UserFile = "config.yaml"

// User is the user's own configuration. It applies to all projects.
type User struct {
	Secrets map[string]secret.Source `json:"secrets,omitempty" yaml:"secrets"`
	Keep    Keep                     `json:"keep" yaml:"keep"`
	Prices  map[string]coppice.Price `json:"prices,omitempty" yaml:"prices"`
	Limits  UserLimits               `json:"limits" yaml:"limits"`
	Budget  UserBudget               `json:"budget" yaml:"budget"`
	Listen  string                   `json:"listen,omitempty" yaml:"listen"` // where the server listens; empty means the default
	Hooks   coppice.Hooks            `json:"hooks,omitempty" yaml:"hooks"`   // commands that follow what happens in any project

	Webhooks Webhooks `json:"webhooks,omitzero" yaml:"webhooks"` // of forges

	Notify coppice.NotifyPolicy `json:"notify,omitzero" yaml:"notify"` // who gets notifications
}

// Webhooks says where the server receives webhooks of forges.
type Webhooks struct {
	Listen string `json:"listen,omitempty" yaml:"listen"` // an IP address and a port; empty means nowhere
}

// UserBudget limits what the user's accounts spend, in all projects together.
type UserBudget struct {
	Accounts map[string]coppice.USD `json:"accounts,omitempty" yaml:"accounts"` // per day
}

// UserLimits limit parallel work on the machine.
type UserLimits struct {
	Checks int `json:"checks,omitempty" yaml:"checks"` // 0 means the number of CPUs
}

// Keep says how much of the history the server keeps. 0 means no limit.
type Keep struct {
	Output      coppice.Duration `json:"output" yaml:"output"`
	OutputSize  coppice.Bytes    `json:"output_size" yaml:"output_size"`
	Tasks       coppice.Duration `json:"tasks" yaml:"tasks"`
	TasksMost   int              `json:"tasks_most" yaml:"tasks_most"`
	BackupsSize coppice.Bytes    `json:"backups_size" yaml:"backups_size"`
}

// DefaultUser returns the default configuration of a user.
func DefaultUser() User {
	const day = 24 * time.Hour
	return User{Keep: Keep{
		Output: coppice.Duration(180 * day), OutputSize: 20 << 30,
		Tasks: coppice.Duration(2 * 365 * day), TasksMost: 200_000, BackupsSize: 10 << 30,
	}}
}

// user is the form of config.yaml.
var user = form{
	fresh: func() any { u := DefaultUser(); return &u },
	whole: func(d *decoder, v any) error {
		if err := d.sources(v.(*User)); err != nil {
			return err
		}
		if err := d.notify(v.(*User).Notify); err != nil {
			return err
		}
		return d.hooks(v.(*User).Hooks)
	},
}

// LoadUser reads the user's configuration in dir. A missing file means the
// defaults. A file that other users can access is refused: it says where
// secrets are, and which commands print them.
func LoadUser(dir string) (User, Source, error) {
	src := Source{Path: filepath.Join(dir, UserFile)}
	b, err := secret.ReadPrivate(src.Path, MaxSize)
	src.Revision = revision(b)
	if errors.Is(err, fs.ErrNotExist) {
		return DefaultUser(), src, nil
	}
	if err != nil {
		return User{}, src, err
	}
	d := newDecoder(src.Path, b)
	v, err := d.read(user)
	if err != nil {
		return User{}, src, err
	}
	src.Read, src.Set = true, d.set
	return *v.(*User), src, nil
}

// UserPath returns the path of the configuration of the user with this
// environment.
func UserPath(environ []string) (string, error) {
	dir, err := secret.UserDir(environ)
	return filepath.Join(dir, UserFile), err
}

// UserOf reads the configuration of the user with this environment. Without a
// home directory, it returns the defaults.
func UserOf(environ []string) (User, Source, error) {
	dir, err := secret.UserDir(environ)
	if err != nil {
		return DefaultUser(), Source{}, nil //nolint:nilerr // a server without a home directory works, too
	}
	return LoadUser(dir)
}

// ParseUser reads the text of a user's configuration. Errors use the name.
func ParseUser(name string, b []byte) (User, error) {
	v, err := newDecoder(name, b).read(user)
	if err != nil {
		return User{}, err
	}
	return *v.(*User), nil
}

// ExplainUser is Explain for the user's configuration.
func ExplainUser(u User, src Source) []Key { return explain(user, u, src) }

// UserSchema is Schema for the user's configuration.
func UserSchema() []byte {
	return publish(user, UserFile, "The user's own configuration of Coppice. It applies to all projects. Every key is optional.")
}

// sources checks that each secret has exactly one source.
func (d *decoder) sources(u *User) error {
	return d.eachAt("secrets", func(name string, e *ast.MappingValueNode) error {
		if u.Secrets[name].Kind() == "" {
			return d.fail(e.Key, "the secret %s has no source, or more than one", coppice.Quote(name)).
				WithFix("give it one of %s, %s, %s and %s", secret.KindEnv, secret.KindFile, secret.KindCommand, secret.KindKeyring)
		}
		return nil
	})
}

// checkSecrets checks the references to secrets in a text, and that the key at
// this path can have any. In other keys it refuses only valid references,
// because ${secret:1} can also be shell syntax.
func checkSecrets(k key, path, s string) error {
	if !strings.Contains(s, secret.Mark) {
		return nil
	}
	err := secret.CheckText(s)
	if k.secrets {
		return err
	}
	if err != nil {
		return nil
	}
	if k.pattern == secret.NamePattern {
		return coppice.Errorf(coppice.EInvalid, "%s is the name of a secret", what(path)).WithFix("write only the name, without ${secret:}")
	}
	return coppice.Errorf(coppice.EInvalid, "a secret cannot be used in %s", what(path)).
		WithFix("use secrets in the headers and env of a tool server under mcp, and in the notifiers of %s", UserFile)
}
