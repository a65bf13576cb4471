package checkout

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"coppice"
	"coppice/features"
	"coppice/internal/clock"
	"coppice/store"
	"coppice/store/sqlite"
)

// killVar names the moment at which a follower in a separate process is killed:
// see mortal.
const killVar = "COPPICE_TEST_KILL"

func TestMain(m *testing.M) {
	if when := os.Getenv(killVar); when != "" {
		die(when, os.Args[1])
	}
	goleak.VerifyTestMain(m)
}

// The moments at which a follower is killed.
const (
	beforeFile   = "before the file"   // is written: what is about to be written is remembered
	beforeMemory = "before the memory" // has it: the file is written
)

// mortal is a store whose process is killed at one of these moments.
type mortal struct {
	store.Store
	when, file string
}

// written reports whether the features file has the status of a failed task.
func (m mortal) written() bool {
	text, err := os.ReadFile(m.file)
	return err == nil && strings.Contains(string(text), `"failed"`)
}

func (m mortal) Update(ctx context.Context, f func(store.Tx) error) error {
	if m.when == beforeMemory && m.written() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // nothing comes after it
	}
	intends := false
	err := m.Store.Update(ctx, func(tx store.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		seen, err := remembered(tx.Reader(), 1)
		intends = seen["1"].Writing == features.Failed
		return err
	})
	if m.when == beforeFile && intends {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // likewise
	}
	return err
}

// die follows the projects of a directory until it is killed.
func die(when, dir string) {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "coppice.db")})
	if err != nil {
		panic(err)
	}
	w, err := openSpaces(dir)
	if err != nil {
		panic(err)
	}
	m := mortal{Store: s, when: when, file: filepath.Join(dir, "app", "features.json")}
	f, err := New(ctx, Config{
		Store: m, Intake: newIntake(m, clock.Real(), w), Spaces: w, Old: filepath.Join(dir, "features"),
		Redact: func(s string) string { return s }, Clock: clock.Real(), Log: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = f.Run(ctx)
	}
	panic(err)
}

// After a kill around the write of the file, Coppice still recognizes its own
// status, whatever happened to the task in the meantime.
func TestKilledBetweenFileAndMemory(t *testing.T) {
	t.Parallel()
	for _, when := range []string{beforeFile, beforeMemory} {
		for name, change := range map[string]func(*coppice.Task){
			"nothing happens":      func(*coppice.Task) {},
			"the task begins":      func(t *coppice.Task) { t.Stage, t.Outcome, t.Failure = coppice.StageChecking, "", nil },
			"the task is done":     func(t *coppice.Task) { t.Outcome, t.Failure = coppice.OutcomeDone, nil },
			"the task fails again": func(t *coppice.Task) { t.Round++ },
		} {
			t.Run(when+", "+name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				file := b.listed(`[{"id": 1, "name": "a", "status": "open"}]`)
				stop := b.start()
				b.flow()
				b.made(1)
				b.until("its memory", func() bool { return b.memory()["1"].Status == features.Open })
				stop()
				b.move("1", coppice.EventTaskEnded, fails)
				b.must(b.store.Close())

				self, err := os.Executable()
				b.must(err)
				cmd := exec.CommandContext(b.ctx, self, b.dir)
				cmd.Env = append(b.env, killVar+"="+when)
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Fatalf("it was not killed: %v\n%s", err, out)
				}
				b.open()
				if got, seen := strings.Contains(b.read(file), `"failed"`), b.memory()["1"]; got != (when == beforeMemory) || seen.Status != features.Open || seen.Writing != features.Failed {
					t.Fatalf("the file is\n%s\nremembered is %+v", b.read(file), seen)
				}

				b.move("1", coppice.EventTaskChanged, change)
				b.start()
				want := features.Derive("1", b.tasks()["1"], "").Status
				b.until("the status "+string(want), func() bool { return b.memory()["1"].Status == want })
				if seen := b.memory()["1"]; seen.ByPerson || seen.Writing != "" || !strings.Contains(b.read(file), `"status": "`+string(want)+`"`) {
					t.Errorf("the file is\n%s\nremembered is %+v", b.read(file), seen)
				}
				if n := len(b.events(coppice.EventTaskRetried)) + len(b.events(coppice.EventTaskStopAsked)) + len(b.events(coppice.EventProjectWarned)); n != 0 {
					t.Errorf("%d requests and warnings followed", n)
				}
				// The status is Coppice's own, so it follows the task from here on.
				b.move("1", coppice.EventTaskChanged, func(t *coppice.Task) { t.Stage, t.Outcome, t.Failure = coppice.StageLanding, "", nil })
				b.until("the next status", func() bool { return strings.Contains(b.read(file), `"verifying"`) })
			})
		}
	}
}

// The state that an earlier version stored in files is imported one time.
func TestMemoryOfEarlierVersions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listed(`[{"id": 1, "name": "a", "status": "open"}, {"id": 2, "name": "b", "status": "open"}]`)
	stop := b.start()
	run := b.flow()
	b.made(2)
	b.settled()
	stop()
	run()
	was := b.memory()
	forget := map[string]json.RawMessage{"1": nil, "2": nil}
	b.must(b.store.Update(b.ctx, func(tx store.Tx) error { return tx.Features.Put(1, forget) }))
	old := filepath.Join(b.dir, "features")
	keep := func(text string) {
		b.must(os.MkdirAll(old, 0o700))
		for name, text := range map[string]string{"1.json": text, "1.json.new": "{", "77.json": `{"1": {"status": "open"}}`, "x": "x"} {
			b.must(os.WriteFile(filepath.Join(old, name), []byte(text), 0o600))
		}
	}
	again := func() {
		t.Helper()
		stop := b.start()
		b.settled()
		stop()
		if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the files are still there: %v", err)
		}
		if seen := b.memory(); len(seen) != 2 || seen["1"] != was["1"] || seen["2"] != was["2"] {
			t.Errorf("remembered is %+v, was %+v", seen, was)
		}
		if n := len(b.events(coppice.EventTaskChanged)) + len(b.events(coppice.EventTaskRetried)); n != 0 {
			t.Errorf("%d changes followed", n)
		}
	}
	b.flow()
	keep(string(coppice.Raw(was)))
	again()
	// A crash before the files were removed: the store's state is newer.
	keep(`{"1": {"status": "failed", "asked": "x"}}`)
	again()
	keep("broken")
	again()
}
