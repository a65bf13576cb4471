package engine

import (
	"context"
	"fmt"
	"strings"

	"coppice"
	"coppice/store"
)

// Forges answers questions to the forges of projects, for requests of people.
type Forges interface {
	// Ready returns an error, with a fix, if the project has no forge, or no token for it.
	Ready(ctx context.Context, s coppice.ForgeSpec) error
	// ReadPull reads a pull request.
	ReadPull(ctx context.Context, s coppice.ForgeSpec, number int) (coppice.PullRead, error)
}

// WithForges makes an Intake accept requests about pull requests.
func WithForges(f Forges) Option { return func(i *Intake) { i.forges = f } }

// AdoptPull creates a task that continues a pull request which somebody else opened.
// Without a text, the task only follows the request. If a task has the request already,
// that task is returned.
func (i *Intake) AdoptPull(ctx context.Context, project string, number int, n coppice.NewTask) (coppice.Task, error) {
	p, t, err := i.ofPull(ctx, project, number)
	switch {
	case err != nil:
		return coppice.Task{}, err
	case t != nil:
		return *t, nil
	case i.forges == nil:
		return coppice.Task{}, coppice.Errorf(coppice.EUnavailable, "this server cannot reach forges")
	}
	if err := i.forges.Ready(ctx, forgeSpec(p)); err != nil {
		return coppice.Task{}, err
	}
	read, err := i.forges.ReadPull(ctx, forgeSpec(p), number)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		err = coppice.Errorf(coppice.ENotFound, "the forge of %s has no pull request #%d", p.Prefix, number).WithFix("check the number on the forge")
	}
	if err == nil {
		err = adoptable(p, read)
	}
	if err != nil {
		return coppice.Task{}, err
	}
	follow := strings.TrimSpace(n.Body) == ""
	if strings.TrimSpace(n.Title) == "" {
		n.Title = i.pullTitle(read)
	}
	n.Body = strings.TrimSpace(fmt.Sprintf("%s\n\nThe work continues the pull request #%d. Its branch starts at the head of the request, and Coppice pushes commits to the request.", n.Body, number))
	pull := coppice.Pull{ProjectID: p.ID, Number: number, HotUntil: i.now().UTC().Add(hotTime)}
	pull.PullDetails = coppice.PullDetails{URL: read.URL, Branch: read.Branch, Base: read.Base, CreatedAt: i.now().UTC(), Adopted: true, Pushed: read.Head, Keep: read.Head}
	pull.Report = coppice.PullRead{Number: number, URL: read.URL, State: read.State, Draft: read.Draft, Branch: read.Branch, Head: read.Head, Base: read.Base}
	made, err := i.createTasks(ctx, project, []coppice.NewTask{n}, func(tx store.Tx, _ int, t *coppice.Task) error {
		other, err := taskOfPull(tx.Reader(), p.ID, number)
		if err == nil {
			err = coppice.Errorf(coppice.EConflict, "%s has just adopted #%d", other.Key, number).WithFix("see it with `coppice show %s`", other.Key)
		}
		if coppice.ErrorCode(err) != coppice.ENotFound {
			return err
		}
		if t.Pull, t.Land = true, coppice.LandPR; follow {
			t.Next = nil
		}
		pull.TaskID = t.ID
		if err := tx.Tasks.Put(t); err != nil {
			return err
		}
		return i.putAdopted(tx, *t, pull)
	})
	if err != nil {
		return coppice.Task{}, err
	}
	return made[0], nil
}

// putAdopted stores the request of a new task, and has the forge read.
func (i *Intake) putAdopted(tx store.Tx, t coppice.Task, p coppice.Pull) error {
	if err := tx.Pulls.Put(&p); err != nil {
		return err
	}
	of := coppice.ForgeSubject(p.ProjectID)
	ask := coppice.Ask{Subject: of, ProjectID: p.ProjectID, Verb: coppice.VerbRead, Args: coppice.Raw(readArgs{ForgeHint: coppice.ForgeHint{Number: p.Number}}), By: i.by, At: i.now().UTC()}
	if err := tx.Asks.Put(&ask); err != nil {
		return err
	}
	return tx.Log.Append(&coppice.Event{
		At: i.now().UTC(), Kind: coppice.EventPullChanged, ProjectID: p.ProjectID, About: of, Subject: t.Key, By: i.by.String(), Reason: t.Key + " adopts " + p.Name(),
	})
}

// adoptable says why a task cannot continue a request; nil if it can.
func adoptable(p coppice.Project, r coppice.PullRead) error {
	switch {
	case r.State != coppice.PullOpen:
		return coppice.Errorf(coppice.EConflict, "the pull request #%d is %s", r.Number, r.State).WithFix("create a task for what is left to do: coppice new")
	case r.Foreign:
		return coppice.Errorf(coppice.EConflict, "the branch of #%d is in another repository (a fork), to which Coppice does not push", r.Number).
			WithFix("push its commits to a branch of this repository, open a pull request for it, and adopt that one")
	case r.Base != p.Policy.Base:
		return coppice.Errorf(coppice.EConflict, "the pull request #%d aims at %s, and the work of %s lands on %s", r.Number, coppice.Quote(r.Base), p.Prefix, p.Policy.Base).
			WithFix("change its base on the forge, or add a project whose base is that branch")
	case r.Branch == p.Policy.Base:
		return coppice.Errorf(coppice.EConflict, "the branch of #%d is the base of %s", r.Number, p.Prefix)
	}
	if coppice.ValidBranch(r.Branch) != nil || coppice.ValidHash(r.Head) != nil {
		return coppice.Errorf(coppice.EConflict, "the branch of #%d cannot be used: its name is %s", r.Number, coppice.Quote(r.Branch)).WithFix("rename the branch on the forge")
	}
	return nil
}

// mostPullTitle limits the title of a task that continues a request, in bytes.
const mostPullTitle = 150

// pullTitle returns the title of a task that continues a request. It is a line of
// visible text.
func (i *Intake) pullTitle(r coppice.PullRead) string {
	title := strings.Join(strings.Fields(coppice.Printable(coppice.FirstLine(r.Title))), " ")
	if i.mask != nil {
		title = i.mask(title)
	}
	if len(title) > mostPullTitle {
		title = strings.ToValidUTF8(title[:mostPullTitle], "") + "…"
	}
	if coppice.ValidTitle(title) != nil {
		return fmt.Sprintf("Pull request #%d", r.Number)
	}
	return title
}

// ofPull returns a project, and the task that has an open request with the number, or
// nil.
func (i *Intake) ofPull(ctx context.Context, project string, number int) (p coppice.Project, t *coppice.Task, err error) {
	err = i.store.View(ctx, func(r store.Reader) error {
		if p, err = knownProject(r.Projects.ByPrefix(project)); err != nil {
			return err
		}
		found, err := taskOfPull(r, p.ID, number)
		if coppice.ErrorCode(err) == coppice.ENotFound {
			return nil
		}
		t = &found
		return err
	})
	return p, t, err
}

// taskOfPull returns the task that has an open request with the number. If there is
// none, the code is not_found.
func taskOfPull(r store.Reader, project int64, number int) (coppice.Task, error) {
	p, err := r.Pulls.ByNumber(project, number)
	if err == nil && !p.Open() {
		err = coppice.Errorf(coppice.ENotFound, "the pull request #%d has ended", number)
	}
	if err != nil {
		return coppice.Task{}, err
	}
	return r.Tasks.Get(p.TaskID)
}

// forgeReady returns an error, with a fix, if the project of a task cannot open pull
// requests.
func (i *Intake) forgeReady(ctx context.Context, key string) error {
	p, err := store.Read(ctx, i.store, func(r store.Reader) (p coppice.Project, err error) {
		t, err := knownTask(r, key)
		if err == nil {
			p, err = r.Projects.Get(t.ProjectID)
		}
		return p, err
	})
	if err != nil || i.forges == nil {
		return err
	}
	return i.forges.Ready(ctx, forgeSpec(p))
}
