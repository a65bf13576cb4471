// Package environ reads environments: lists of NAME=value, as os.Environ returns
// them. What a program starts gets a chosen part of its own environment, so that
// keys and tokens do not spread.
package environ

import (
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Get returns the value of a variable, or "" when it is not set. The last one of
// a name counts, as for a program that is started.
func Get(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// Allowed reports whether a name is in a list of names and PREFIX_* patterns.
func Allowed(name string, list []string) bool {
	for _, a := range list {
		if prefix, ok := strings.CutSuffix(a, "*"); ok {
			if prefix != "" && strings.HasPrefix(name, prefix) {
				return true
			}
		} else if name == a {
			return true
		}
	}
	return false
}

// Pick returns the variables that the list allows, in their order.
func Pick(env, list []string) []string {
	var out []string
	for _, kv := range env {
		if name, _, ok := strings.Cut(kv, "="); ok && Allowed(name, list) {
			out = append(out, kv)
		}
	}
	return out
}

// LookPath finds a program as exec.LookPath does, in the PATH of env rather
// than in that of this process. Directories that are not absolute are left out.
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
