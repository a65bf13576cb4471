package main

import (
	"context"

	"coppice"
	"coppice/cmd/coppice/cli"
	"coppice/config"
	"coppice/workspace/git"
)

// checkout reads what the overview shows about the current directory.
func (p *program) checkout(ctx context.Context) (at cli.Checkout) {
	if _, err := git.New(git.Config{}); err != nil {
		return cli.Checkout{Err: noGit(err)}
	}
	root, err := runGit(ctx, p.env.Dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return cli.Checkout{} // the directory is not in a checkout
	}
	_, src, err := config.Load(root)
	at.Root, at.Err = root, err
	if src.Read || err != nil {
		at.Config = src.Path
	}
	return at
}

func noGit(err error) error {
	return coppice.Errorf(coppice.EUnavailable, "git cannot be used: %w", err).WithFix("install git 2.38 or newer")
}
