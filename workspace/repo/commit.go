package repo

import (
	"context"
	"strconv"
	"strings"
	"time"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
)

// UTCDate writes a time as git does in a commit.
func UTCDate(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) + " +0000" }

// OwnSignature is that of commits that Coppice makes for itself.
func OwnSignature(now time.Time) gitfiles.Signature {
	return gitfiles.Signature{Name: "Coppice", Email: "coppice@localhost", Date: UTCDate(now)}
}

// Signature returns that of an author, now. Without a name, it is the person whom the
// repository configures.
func (rs *Repos) Signature(ctx context.Context, r Repo, by coppice.Identity) (gitfiles.Signature, error) {
	who, err := git.Person(by), error(nil)
	if by == (coppice.Identity{}) {
		who, err = rs.Git.Identity(ctx, r.Root)
	}
	now := rs.Now()
	return gitfiles.Signature{Name: who.Name, Email: who.Email, Date: strconv.FormatInt(now.Unix(), 10) + now.Format(" -0700")}, err
}

// CommitTree writes a commit into Coppice's own repository.
func (rs *Repos) CommitTree(ctx context.Context, r Repo, c gitfiles.Commit) (string, error) {
	if id, err := rs.Files(ctx, r.Git).WriteCommit(c); err == nil {
		return id, nil
	}
	args := []string{"commit-tree"}
	for _, p := range c.Parents {
		args = append(args, "-p", p)
	}
	out, err := rs.Git.Do(ctx, git.Call{Dir: r.Git, Stdin: []byte(c.Message), Args: append(args, "-F", "-", c.Tree), Env: SignatureEnv(c.Author, c.Committer)})
	return strings.TrimSpace(out), err
}

// SignatureEnv returns the variables with which git commits for an author and a
// committer. Without a date, it is now. The sign before a date keeps git from
// reading small numbers as something else.
func SignatureEnv(author, committer gitfiles.Signature) (env []string) {
	for role, s := range map[string]gitfiles.Signature{"AUTHOR": author, "COMMITTER": committer} {
		env = append(env, "GIT_"+role+"_NAME="+s.Name, "GIT_"+role+"_EMAIL="+s.Email)
		if s.Date != "" {
			env = append(env, "GIT_"+role+"_DATE=@"+s.Date)
		}
	}
	return env
}
