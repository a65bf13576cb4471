// Package environ reads environments: lists of NAME=value, as os.Environ returns
// them. A program that Coppice starts gets an allowed part of the environment, so
// that keys and tokens do not spread.
package environ

import (
	"errors"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Allowed lists the variables that a program gets, as names and as patterns such
// as LC_*.
type Allowed []string

// Lists that most programs have in common.
var (
	Base    = Allowed{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR"}
	Network = Allowed{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"}
)

// Workspace is what every program in a workspace gets: agents, checks, set-up
// commands and apps. So an agent that runs the tests gets the result of the check. It
// has no keys and no tokens.
var Workspace = Base.And(Network, Allowed{
	"SHELL", "LC_*", "TERM", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "NODE_EXTRA_CA_CERTS", "CI",
	"GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV",
	"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "COMPOSE_PROJECT_NAME",
})

// And returns a list with more variables.
func (a Allowed) And(lists ...Allowed) Allowed {
	return slices.Concat(append([]Allowed{a}, lists...)...)
}

// Has reports whether the list allows a variable.
func (a Allowed) Has(name string) bool {
	return slices.ContainsFunc(a, func(allowed string) bool {
		prefix, isPattern := strings.CutSuffix(allowed, "*")
		return name == allowed || isPattern && prefix != "" && strings.HasPrefix(name, prefix)
	})
}

// Overlaps returns the first entry of the list that can allow a variable which
// other, a name or a pattern, allows, too. It returns "" if there is none.
func (a Allowed) Overlaps(other string) string {
	o, oPattern := strings.CutSuffix(other, "*")
	for _, entry := range a {
		e, ePattern := strings.CutSuffix(entry, "*")
		if e == o || oPattern && strings.HasPrefix(e, o) || ePattern && strings.HasPrefix(o, e) {
			return entry
		}
	}
	return ""
}

// Pick returns the variables that the list allows, in their order.
func (a Allowed) Pick(env []string) []string {
	var out []string
	for _, kv := range env {
		if name, _, ok := strings.Cut(kv, "="); ok && a.Has(name) {
			out = append(out, kv)
		}
	}
	return out
}

// Get returns the value of a variable, or "" if it is not set. The last one of a
// name counts, as for a program that is started.
func Get(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// List returns variables as NAME=value, in the order of their names.
func List(env map[string]string) []string {
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// Map returns the variables of a list by name.
func Map(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, kv := range list {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	return env
}

// LookPath finds a program as exec.LookPath does, in the PATH of env and not in
// that of this process. It ignores directories that are not absolute.
func LookPath(program string, env []string) (string, error) {
	if strings.ContainsRune(program, filepath.Separator) {
		return exec.LookPath(program)
	}
	for _, dir := range filepath.SplitList(Get(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		found, err := exec.LookPath(filepath.Join(dir, program))
		if err == nil {
			return found, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, exec.ErrNotFound) {
			return "", err
		}
	}
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}
