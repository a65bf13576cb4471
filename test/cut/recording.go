//go:build linux

package cut

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
)

// Recording is a run of a program that can be cut anywhere.
type Recording struct {
	Ops    []Op
	Points []int // the numbers of operations after which the tree is another one than before
	first  *Tree // before the run
	last   *Tree // after it
}

// Run records a command and checks that its operations explain all that it did.
func Run(ctx context.Context, root string, cmd *exec.Cmd) (*Recording, error) {
	first, err := Take(root)
	if err != nil {
		return nil, err
	}
	ops, err := Record(ctx, root, cmd)
	if err != nil {
		return nil, err
	}
	last, err := Take(root)
	if err != nil {
		return nil, err
	}
	r := &Recording{Ops: ops, first: first, last: last}
	return r, r.check()
}

// check replays everything and notes the points.
func (r *Recording) check() error {
	if err := r.first.Restore(); err != nil {
		return err
	}
	for i, o := range r.Ops {
		changed, err := o.apply(r.first.root)
		if err != nil {
			return fmt.Errorf("operation %d: %s: %w", i+1, o, err)
		}
		if changed {
			r.Points = append(r.Points, i+1)
		}
	}
	got, err := Take(r.first.root)
	if err != nil {
		return err
	}
	if wrong := Diff(r.last, got); len(wrong) > 0 {
		return fmt.Errorf("the recording does not explain what the program did: %s", strings.Join(wrong, ", "))
	}
	return nil
}

// Replay makes the tree what it was after the first n operations.
func (r *Recording) Replay(n int) error {
	if err := r.first.Restore(); err != nil {
		return err
	}
	for i, o := range r.Ops[:n] {
		if _, err := o.apply(r.first.root); err != nil {
			return fmt.Errorf("operation %d: %s: %w", i+1, o, err)
		}
	}
	return r.restat()
}

// Restore makes the tree what it was before the run.
func (r *Recording) Restore() error { return r.Replay(0) }

// Describe says where a cut after n operations is.
func (r *Recording) Describe(n int) string {
	after, before := "the start", "the end"
	if n > 0 {
		after = r.Ops[n-1].String()
	}
	if n < len(r.Ops) {
		before = r.Ops[n].String()
	}
	return fmt.Sprintf("cut %d of %d, after %q, before %q", n, len(r.Ops), after, before)
}

// Sample returns up to most of the points, in order, the last one among them.
// The same seed chooses the same ones.
func (r *Recording) Sample(most int, seed uint64) []int {
	if len(r.Points) <= most || most < 1 {
		return r.Points
	}
	random := rand.New(rand.NewPCG(seed, seed))
	end := len(r.Points) - 1
	list := []int{r.Points[end]}
	for _, i := range random.Perm(end)[:most-1] {
		list = append(list, r.Points[i])
	}
	slices.Sort(list)
	return list
}

// Together makes the operations below a directory one step, at the moment when
// the last ref there is replaced. That is how a repository on another machine
// looks: it takes a push as a whole or not at all, whichever process is killed here.
func (r *Recording) Together(dir string) {
	there := func(o Op) bool { return strings.HasPrefix(o.Path, dir+"/") || strings.HasPrefix(o.To, dir+"/") }
	at := -1
	var own, rest []Op
	for _, o := range r.Ops {
		if !there(o) {
			rest = append(rest, o)
			continue
		}
		own = append(own, o)
		if o.Kind == Rename && strings.HasPrefix(o.To, dir+"/refs/") {
			at = len(rest)
		}
	}
	if at < 0 {
		return
	}
	points := map[int]bool{} // of the old numbers
	for _, n := range r.Points {
		points[n] = true
	}
	r.Points = nil
	local := 0
	for i, o := range r.Ops {
		if there(o) {
			continue
		}
		if local == at {
			r.Points = append(r.Points, local+len(own))
		}
		local++
		if points[i+1] {
			n := local
			if local > at {
				n += len(own)
			}
			r.Points = append(r.Points, n)
		}
	}
	if local == at {
		r.Points = append(r.Points, local+len(own))
	}
	r.Ops = slices.Concat(rest[:at], own, rest[at:])
}
