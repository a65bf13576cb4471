// Package landing puts the work of tasks on a branch of the person: it merges on
// trees, copies what lands into the person's repository, moves the branch by
// compare-and-swap and the checkouts of the branch with it, and pushes.
//
// Moving a checkout survives a crash at any point. A record says what is about to
// change, and the next landing, or the next start of the server, completes the move
// if the branch has moved and undoes it if not.
//
// The files by topic:
//
//	merge, conflict, ours  the commit that would land
//	gather, pack           its objects
//	move, checkout, record the move of the branch and its checkouts
//	push                   the remote
//	pull                   branches of pull requests, and work that a forge merged
//	back                   landings that are taken off the branch again
//	basemove               moves of the base that Coppice did not make
//	bring                  branches of tasks that the person asks for
//	flow                   the branches on which the steps of flows land
package landing

import "coppice/workspace/repo"

// Landings lands work. Its repositories and BranchesOf are required. It is safe for
// concurrent use, and several processes can share its directory.
type Landings struct {
	*repo.Repos
	// BranchesOf lists the branches in the workspaces of a repository. An agent may
	// have commits there that are not saved yet.
	BranchesOf func(repo.Repo) ([]TaskBranch, error)

	trees trees
}
