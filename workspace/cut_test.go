//go:build linux

package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"coppice/test/cut"
)

var (
	seed = flag.Uint64("seed", 1, "chooses the cut points, and what the user changes")
	cuts = flag.String("cuts", "", "how many cut points of each scenario are tried, or \"all\"")
	keep = flag.Bool("keep", false, "keep the directory of a scenario that fails, as it is after its first failure")
)

// failing lists the scenarios that fail, and why. A scenario that is listed and
// passes at all of its points is an error, so that the list stays true.
var failing = map[string]string{}

// enough is how many cuts have to be tried in all.
const enough = 2000

// order says what the recorded process does.
type order struct {
	Root, Kind string
	Spec       json.RawMessage
	Restarted  bool   // it comes after a cut
	Answer     string // the file that the result is written to
}

const orderVar = "COPPICE_CUT_ORDER"

// A process with an order does that, and runs no test.
func init() {
	name := os.Getenv(orderVar)
	if name == "" {
		return
	}
	if err := obey(name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func obey(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var o order
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	w, err := openAt(o.Root)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if o.Restarted {
		if err := w.Sweep(ctx); err != nil {
			return err
		}
	}
	res, err := perform(ctx, w, o.Kind, o.Spec)
	if err != nil {
		return err
	}
	if b, err = json.Marshal(res); err != nil {
		return err
	}
	return os.WriteFile(o.Answer, b, 0o600)
}

// record does the operation of the stage in a separate process and returns its
// trace and its answer. The error is that of the operation.
func (s *stage) record(restarted bool) (*cut.Recording, any, error) {
	s.t.Helper()
	spec, err := json.Marshal(s.spec)
	if err != nil {
		s.t.Fatal(err)
	}
	dir := s.t.TempDir()
	o := order{Root: s.root, Kind: s.kind, Spec: spec, Restarted: restarted, Answer: filepath.Join(dir, "answer")}
	b, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	name := filepath.Join(dir, "order")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		s.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Dir, cmd.Env = s.root, append(os.Environ(), orderVar+"="+name)
	rec, err := cut.Run(s.t.Context(), s.root, cmd)
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, nil, err
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if s.remote != "" {
		rec.Together(filepath.Base(s.remote))
	}
	var res any
	if b, err = os.ReadFile(o.Answer); err == nil {
		err = json.Unmarshal(b, &res)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return rec, res, nil
}

// TestCuts stops each operation as a power cut does, after each of its writes,
// and does it again as after a restart.
func TestCuts(t *testing.T) {
	t.Parallel()
	var ran, tried atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d cuts in %d scenarios", tried.Load(), ran.Load())
		if all := int64(len(scenarios())); ran.Load() == all && *cuts == "" && len(failing) == 0 && tried.Load() < enough {
			t.Errorf("at least %d cuts are necessary", enough)
		}
	})
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			sc.set(s)
			s.settle()
			rec, res, err := s.record(false)
			if err != nil {
				t.Fatal(err)
			}
			r := &run{stage: s, scenario: sc, rec: rec, kinds: map[string]int{}}
			r.order()
			r.fail(len(rec.Ops), "without a cut", sc.check(s, res, nil))
			r.cut()
			r.edit()
			r.twice()
			r.report()
			ran.Add(1)
			tried.Add(int64(r.tried))
		})
	}
}

// run is a scenario that runs.
type run struct {
	*stage
	scenario
	rec   *cut.Recording
	tried int
	bad   int
	kinds map[string]int // failures by kind
	first []string       // the first failure of each kind
}

// mostUsual bounds the cuts of one scenario in an ordinary run; -cuts all tries
// every point.
const mostUsual = 55

// most returns how many points are tried.
func (r *run) most(usual int) int {
	switch *cuts {
	case "":
		if usual == 0 || usual > mostUsual {
			return mostUsual
		}
		return usual
	case "all":
		return 0
	}
	n, err := strconv.Atoi(*cuts)
	if err != nil {
		r.t.Fatalf("-cuts %s is not a number", *cuts)
	}
	return n
}

// worst lists the kinds of failures, the worst first. A cut counts for the worst
// of what is wrong after it.
var worst = []string{"overwritten", "files", "workspace", "fsck", "status", "base", "error", "blocked", "lock left"}

// fail notes what is wrong after a cut.
func (r *run) fail(n int, how string, bad []wrong) { r.failAt(how+": "+r.rec.Describe(n), bad) }

func (r *run) failAt(text string, bad []wrong) {
	r.tried++
	if len(bad) == 0 {
		return
	}
	r.bad++
	kind := slices.MinFunc(bad, func(a, b wrong) int { return slices.Index(worst, a.kind) - slices.Index(worst, b.kind) }).kind
	if r.kinds[kind]++; r.kinds[kind] > 1 {
		return
	}
	for _, b := range bad {
		text += "\n    " + b.kind + ": " + b.text
	}
	r.first = append(r.first, text)
	if *keep {
		r.t.Fatal(text)
	}
}

func (r *run) cut() {
	for _, n := range r.rec.Sample(r.most(r.cuts), *seed) {
		if err := r.rec.Replay(n); err != nil {
			r.t.Fatal(err)
		}
		res, err := r.again()
		r.fail(n, "done again", r.check(r.stage, res, err))
	}
}

// twice cuts once, and then what is done again is cut too.
func (r *run) twice() {
	points := r.rec.Points
	if len(points) == 0 {
		return
	}
	n := points[rand.New(rand.NewPCG(*seed, 3)).IntN(len(points))]
	if err := r.rec.Replay(n); err != nil {
		r.t.Fatal(err)
	}
	how := "cut twice, first at " + r.rec.Describe(n)
	rec, res, err := r.record(true)
	r.failAt(how, r.check(r.stage, res, err))
	if err != nil {
		return
	}
	for _, m := range rec.Sample(r.most(12), *seed+3) {
		if err := rec.Replay(m); err != nil {
			r.t.Fatal(err)
		}
		res, err := r.again()
		r.failAt(how+", then at "+rec.Describe(m), r.check(r.stage, res, err))
	}
}

// edit cuts too, and then the user changes a file that the landing touches.
func (r *run) edit() {
	if r.edits == 0 {
		return
	}
	random := rand.New(rand.NewPCG(*seed, 2))
	touched := r.touched()
	for _, n := range r.rec.Sample(r.most(min(r.edits, 20)), *seed+1) {
		if err := r.rec.Replay(n); err != nil {
			r.t.Fatal(err)
		}
		how := "done again after the user changed "
		if lock := filepath.Join(r.repo, ".git", "index.lock"); random.IntN(2) == 0 && os.Remove(lock) == nil {
			how = "done again after the user removed index.lock, as git advises, and changed "
		}
		path := r.editable(touched, random)
		text := fmt.Sprintf("the user's own, after %d\n", n)
		if err := os.WriteFile(filepath.Join(r.repo, path), []byte(text), 0o644); err != nil {
			r.t.Fatal(err)
		}
		res, err := r.again()
		r.fail(n, how+path, r.checkEdited(path, text, res, err))
	}
}

// touched lists the paths that the landing changes.
func (r *run) touched() []string {
	before := r.before[r.repo].files
	var list []string
	for path, text := range r.landed {
		if before[path] != text && !slices.ContainsFunc(r.before[r.repo].status, func(l string) bool { return pathOf(l) == path }) {
			list = append(list, path)
		}
	}
	for path := range before {
		if _, ok := r.landed[path]; !ok && (strings.HasPrefix(path, "del/") || path == "kinds/gone") {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

// editable chooses one of the paths where a user could write a file now.
func (r *run) editable(touched []string, random *rand.Rand) string {
	for _, i := range random.Perm(len(touched)) {
		file := filepath.Join(r.repo, touched[i])
		if st, err := os.Lstat(file); err == nil && st.Mode().IsRegular() {
			return touched[i]
		} else if err == nil {
			continue
		}
		if os.MkdirAll(filepath.Dir(file), 0o755) == nil {
			return touched[i]
		}
	}
	r.t.Fatal("the user can change nothing")
	return ""
}

// report logs how it went, and fails unless that is expected.
func (r *run) report() {
	r.t.Helper()
	line := fmt.Sprintf("%s: %d cuts at %d points of %d operations: %d failed", r.name, r.tried, len(r.rec.Points), len(r.rec.Ops), r.bad)
	for _, kind := range slices.Sorted(maps.Keys(r.kinds)) {
		line += fmt.Sprintf(", %d %s", r.kinds[kind], kind)
	}
	r.t.Log(line)
	why, known := failing[r.name]
	switch {
	case r.bad > 0 && known:
		r.t.Logf("known: %s\n%s", why, strings.Join(r.first, "\n"))
	case r.bad > 0:
		r.t.Errorf("go test ./workspace -run 'TestCuts/%s' -seed %d -keep\n%s", r.name, *seed, strings.Join(r.first, "\n"))
	case known && r.tried > len(r.rec.Points): // a sample can miss what fails
		r.t.Errorf("%s passes now: take it off the list of those that fail", r.name)
	}
}
