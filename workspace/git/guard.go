package git

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// guarded names the commands that may run a program the repository's
// configuration names: filters, drivers and transports. They get overrides
// that are computed from the configuration as it is.
var guarded = map[string]bool{
	"add": true, "checkout": true, "commit": true, "diff": true, "diff-files": true, "diff-index": true, "fetch": true,
	"hash-object": true, "ls-remote": true, "merge-tree": true, "push": true, "read-tree": true, "reset": true, "status": true, "submodule": true,
	"update-index": true,
}

// fixed overrides settings that no repository can set for Coppice.
func fixed() []string {
	return []string{
		"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.editor=false", "core.pager=cat", "core.askPass=", "core.gitProxy=",
		"core.alternateRefsCommand=", "core.untrackedCache=keep", "core.quotePath=false", "core.logAllRefUpdates=true",
		"protocol.ext.allow=never", "diff.external=", "diff.ignoreSubmodules=none", "diff.renames=true", "status.renames=false", "diff.noprefix=false",
		"diff.mnemonicPrefix=false", "diff.algorithm=myers", "color.ui=false", "gc.auto=0", "maintenance.auto=false", "fetch.recurseSubmodules=false",
		"push.recurseSubmodules=no", "push.followTags=false", "push.gpgSign=false", "commit.gpgSign=false", "gpg.program=false", "gpg.ssh.program=false",
		"gpg.x509.program=false", "i18n.commitEncoding=UTF-8", "i18n.logOutputEncoding=UTF-8", "merge.conflictStyle=zdiff3", "merge.renames=true",
		"merge.directoryRenames=conflict", "merge.default=text", "rerere.enabled=false", "submodule.recurse=false", "advice.detachedHead=false",
		"checkout.workers=1", "checkout.guess=false", "commit.template=", "commit.status=false", "worktree.guessRemote=false",
		"core.commentChar=#", "log.showSignature=false", "sequence.editor=false", "fetch.fsckObjects=true", "core.splitIndex=false",
	}
}

// textMerge is what a custom merge driver is replaced with: git's own merge.
const textMerge = "git merge-file -q --marker-size=%L %A %O %B"

// kept are settings of the person's global configuration that change how files
// look or what is ignored. They name no program.
var kept = map[string]bool{"core.autocrlf": true, "core.eol": true, "core.excludesfile": true, "core.precomposeunicode": true, "core.ignorecase": true}

// decisive are those of the kept settings that name a file, and so count only as
// they were confirmed.
var decisive = map[string]bool{"core.excludesfile": true}

// Setting is one line of configuration.
type Setting struct {
	Scope string // system, global, local, worktree, command
	Key   string
	Value string
}

func (s Setting) trusted() bool { return s.Scope == "system" || s.Scope == "global" }

// Trust sets the function that returns which settings were confirmed for a directory
// in which git runs, if that is known. Git runs a program of a setting only if the
// setting was confirmed or, if that is not known, is in the person's global
// configuration. F can also name another directory that has the same settings. Trust
// must be called before git runs.
func (r *Runner) Trust(f func(dir string) (confirmed []Setting, known bool, as string)) { r.trust = f }

// Settings lists the configuration that holds in dir, in git's order, the
// person's own global one included. It is shared and must not be changed.
func (r *Runner) Settings(ctx context.Context, dir string) ([]Setting, error) {
	print, known := r.memory.print(dir, time.Now())
	if known {
		if list, ok := r.memory.recall(print); ok {
			return list, nil
		}
	}
	c := Call{Dir: dir, Args: []string{"config", "--null", "--list", "--show-scope", "--includes"}, Network: true}
	out, _, err := r.exec(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(out, "\x00")
	var list []Setting
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, set := strings.Cut(fields[i+1], "\n")
		if !set {
			value = "true" // a key alone
		}
		list = append(list, Setting{Scope: fields[i], Key: key, Value: value})
	}
	if again, ok := r.memory.print(dir, time.Now()); known && ok && again == print {
		r.memory.keep(print, list)
	}
	return list, nil
}

// guard computes the overrides for one call.
func (r *Runner) guard(ctx context.Context, dir string, live bool) ([]string, error) {
	confirmed, known := []Setting(nil), false
	if r.trust != nil {
		as := ""
		if confirmed, known, as = r.trust(dir); as != "" && !live {
			dir = as
		}
	}
	list, err := r.Settings(ctx, dir)
	if err != nil {
		return nil, err
	}
	out := []string{"core.sshCommand=ssh", "credential.helper="}
	seen := map[string]bool{}
	var helpers []string
	allowed := func(s Setting) bool { return s.trusted() && !known }
	for _, s := range confirmed {
		if section, _, _ := strings.Cut(s.Key, "."); section == "filter" || section == "credential" || s.Key == "core.sshcommand" || kept[s.Key] {
			helpers = append(helpers, Pair(s.Key, s.Value))
		}
	}
	for _, s := range list {
		if strings.ContainsAny(s.Key, "=") {
			// A key that cannot be overridden through a pair is passed on as two
			// variables by configEnv, which splits at the last one.
			s.Key = strings.ReplaceAll(s.Key, "=", equals)
		}
		section, rest, _ := strings.Cut(s.Key, ".")
		dot := strings.LastIndexByte(rest, '.')
		name := rest[dot+1:]
		switch {
		case s.Key == "core.sshcommand" && allowed(s), kept[s.Key] && s.trusted() && (!known || !decisive[s.Key]):
			out = append(out, s.Key+"="+s.Value)
		case section == "credential" && name == "helper" && allowed(s):
			helpers = append(helpers, s.Key+"="+s.Value)
		case dot < 0:
		case section == "filter" && (name == "clean" || name == "smudge" || name == "process" || name == "required"):
			value := ""
			if name == "required" {
				value = "false"
			}
			if !seen[s.Key] {
				seen[s.Key] = true
				out = append(out, s.Key+"="+value)
			}
			if allowed(s) {
				helpers = append(helpers, s.Key+"="+s.Value)
			}
		case section == "diff" && (name == "textconv" || name == "command"):
			out = append(out, s.Key+"=")
		case section == "merge" && name == "driver":
			out = append(out, s.Key+"="+textMerge)
		case section == "remote" && name == "uploadpack":
			out = append(out, s.Key+"=git-upload-pack")
		case section == "remote" && name == "receivepack":
			out = append(out, s.Key+"=git-receive-pack")
		case section == "submodule" && name == "update":
			out = append(out, s.Key+"=checkout")
		}
	}
	return append(out, helpers...), nil
}

// equals stands for an equals sign within a key until configEnv puts it back.
const equals = "\x01"

// Pair returns an override of a setting, as Call.Config has it. The key can contain an
// equals sign.
func Pair(key, value string) string { return strings.ReplaceAll(key, "=", equals) + "=" + value }

// configEnv writes overrides as git's environment variables, which unlike -c
// take any key.
func configEnv(pairs []string) []string {
	env := make([]string, 0, 2*len(pairs)+1)
	for i, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+strings.ReplaceAll(key, equals, "="), "GIT_CONFIG_VALUE_"+n+"="+value)
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(pairs)))
}

// Person is who commits.
type Person struct{ Name, Email string }

// Identity returns who commits in dir: the configured person, or Coppice.
func (r *Runner) Identity(ctx context.Context, dir string) (Person, error) {
	list, err := r.Settings(ctx, dir)
	if err != nil {
		return Person{}, err
	}
	var p Person
	for _, s := range list {
		switch s.Key {
		case "user.name":
			p.Name = s.Value
		case "user.email":
			p.Email = s.Value
		}
	}
	if p.Name == "" || p.Email == "" {
		return Person{Name: "Coppice", Email: "coppice@localhost"}, nil
	}
	return p, nil
}
