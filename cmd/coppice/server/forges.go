package server

import (
	"coppice/forge"
	"coppice/forge/gitea"
	"coppice/forge/github"
	"coppice/forge/gitlab"
)

// forges are the kinds of forge of this program, by name.
var forges = map[string]forge.Opener{
	"gitea":  gitea.Open,
	"github": github.Open,
	"gitlab": gitlab.Open,
}
