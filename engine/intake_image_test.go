package engine

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// upload stores a picture of a size, and returns its id.
func (b *bundle) upload(width int) string {
	b.t.Helper()
	var data bytes.Buffer
	b.must(png.Encode(&data, image.NewGray(image.Rect(0, 0, width, 1))))
	img, err := b.AddImage(b.t.Context(), data.Bytes())
	b.must(err)
	return img.ID
}

// noise returns a picture of more than a number of bytes.
func noise(t *testing.T, size int, seed byte) []byte {
	t.Helper()
	pic := image.NewGray(image.Rect(0, 0, 1024, size/1024+1))
	state := uint32(seed) + 1
	for y := range pic.Rect.Dy() {
		for x := range 1024 {
			state = state*1664525 + 1013904223
			pic.SetGray(x, y, color.Gray{Y: byte(state >> 24)})
		}
	}
	var data bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&data, pic); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// The images of a task and of messages to it belong to the prompt of each of its
// sessions.
func TestImagesOfATask(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	first, second, third := b.upload(1), b.upload(2), b.upload(3)
	b.create(coppice.NewTask{Title: "Like this", Images: []string{first, first}})
	b.prepares("app-1")
	runs := func(want ...string) {
		t.Helper()
		spec, err := coppice.DecodeSpec[coppice.RunSpec](b.unsettled("app-1"))
		if err != nil || !slices.Equal(spec.Images, want) {
			t.Errorf("the run has the images %v (%v), want %v", spec.Images, err, want)
		}
	}
	runs(first)
	m, err := b.Send(t.Context(), "app-1", "and this", second)
	if err != nil || !slices.Equal(m.Images, []string{second}) {
		t.Fatalf("message %+v, %v", m, err)
	}
	id := b.task("app-1").ID
	b.update(func(tx store.Tx) error {
		s, err := tx.Sessions.Last(id)
		s.State, s.StartedAt = coppice.SessionWorking, b.clock
		b.must(err)
		return tx.Sessions.Put(s)
	})
	b.turn()
	spec, err := coppice.DecodeSpec[coppice.SendSpec](b.unsettled("app-1"))
	if err != nil || !slices.Equal(spec.Images, []string{second}) {
		t.Errorf("the message is sent with %v (%v)", spec.Images, err)
	}
	b.finish("app-1", coppice.WorkSend, coppice.SendResult{Delivered: true})
	_, err = b.Ask(t.Context(), "app-1", coppice.VerbRequeue, verb.Request{Text: "again", Images: []string{third}})
	b.must(err)
	if got := b.task("app-1").Images; !slices.Equal(got, []string{first, second, third}) {
		t.Errorf("the task has %v", got)
	}
	if all := read(b, func(r store.Reader) ([]coppice.Image, error) { return r.Images.Of(id) }); len(all) != 3 || all[0].Data != nil {
		t.Errorf("stored: %+v", all)
	}
}

func TestImagesThatAreRefused(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	ctx := t.Context()
	one := b.upload(1)
	_, err := b.CreateTasks(ctx, "app", []coppice.NewTask{{Title: "x", Images: []string{"none"}}})
	if coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("an unknown image: %v", err)
	}
	b.create(coppice.NewTask{Title: "y", Images: []string{one}})
	var large []string
	for seed := range 2 {
		img, err := b.AddImage(ctx, noise(t, 4<<20, byte(seed)))
		b.must(err)
		large = append(large, img.ID)
	}
	if _, err := b.Send(ctx, "app-1", "these", large...); coppice.ErrorCode(err) != coppice.ETooLarge {
		t.Errorf("more bytes than a task can have: %v", err)
	}
	if got := b.task("app-1").Images; len(got) != 1 {
		t.Errorf("after a refusal the task has %v", got)
	}
	if _, err := b.Ask(ctx, "app-1", coppice.VerbStop, verb.Request{Images: []string{one}}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a verb without images: %v", err)
	}
	if _, err := b.AddImage(ctx, []byte("<svg>")); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("not an image: %v", err)
	}
}

// An image that no task uses is removed after a day. An image of a task stays.
func TestUnusedImages(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	used, unused := b.upload(1), b.upload(2)
	b.create(coppice.NewTask{Title: "x", Images: []string{used}}, coppice.NewTask{Title: "y", Images: []string{used}})
	b.clock = b.clock.Add(25 * time.Hour)
	fresh := b.upload(3)
	b.must(b.PruneImages(t.Context()))
	b.view(func(r store.Reader) error {
		for id, stays := range map[string]bool{used: true, unused: false, fresh: true} {
			if _, err := r.Images.Get(id); (err == nil) != stays {
				t.Errorf("image %.4s: %v, want it to stay: %v", id, err, stays)
			}
		}
		return nil
	})
}

// A task's own effort replaces the project's, and belongs to its agent.
func TestEffortOfATask(t *testing.T) {
	t.Parallel()
	v := viewOf(coppice.StageSession)
	v.Project.Policy.Agent.Effort = "low"
	for _, c := range []struct{ agent, effort, session, want string }{
		{"ann", "high", "ann", "high"},
		{"ann", "", "ann", "low"},
		{"bob", "max", "bob", "max"},
		{"bob", "", "bob", ""},
		{"bob", "max", "carl", ""},   // a fallback
		{"bob", "max", "ann", "low"}, // the project's agent as a fallback
	} {
		v.Task.Agent, v.Task.Effort = c.agent, c.effort
		if got := runSpec(v, &coppice.Session{Agent: c.session}).Effort; got != c.want {
			t.Errorf("%+v runs with the effort %q", c, got)
		}
	}
	b := openApp(t)
	b.create(coppice.NewTask{Title: "x", Agent: "ann", Effort: "high"})
	got, err := b.Ask(t.Context(), "app-1", coppice.VerbRequeue, verb.Request{Staff: coppice.Staff{Agent: "bob"}})
	if err != nil || got.Effort != "" || got.Agent != "bob" {
		t.Errorf("with another agent: %+v, %v", got.TaskDetails, err)
	}
	if _, err := b.CreateTasks(t.Context(), "app", []coppice.NewTask{{Title: "x", Effort: "--all"}}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("an effort that is a flag: %v", err)
	}
}

// A retry can name another agent: for a task that ended, and for one that waits
// for a person.
func TestRetryWithAnotherAgent(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "ended", Agent: "ann"}, coppice.NewTask{Title: "waits", Agent: "ann"}, coppice.NewTask{Title: "verified", Agent: "ann"})
	b.update(func(tx store.Tx) error {
		for key, change := range map[string]func(*coppice.Task){
			"app-1": func(t *coppice.Task) { t.Stage, t.Outcome, t.Next = coppice.StageEnded, coppice.OutcomeFailed, nil },
			"app-2": func(t *coppice.Task) { t.Next.Resume, t.Next.Note = "talk1", "note" },
			"app-3": func(t *coppice.Task) { t.Next.Role = coppice.RoleVerify },
		} {
			task, err := tx.Tasks.ByKey(key)
			b.must(err)
			task.Wait = &coppice.Wait{On: coppice.WaitPerson}
			change(&task)
			b.must(tx.Tasks.Put(&task))
		}
		return nil
	})
	staff := verb.Request{Staff: coppice.Staff{Agent: "bob", Model: "small", Effort: "high"}}
	for key, want := range map[string]*coppice.Next{
		"app-1": nil, // its first session has the task's agent
		"app-2": {Role: coppice.RoleImplement, Agent: "bob", Model: "small", Note: "note"},
		"app-3": {Role: coppice.RoleVerify, Agent: "ann"}, // the verifier stays
	} {
		got, err := b.Ask(t.Context(), key, coppice.VerbRetry, staff)
		if err != nil || got.Agent != "bob" || got.Model != "small" || got.Effort != "high" {
			t.Errorf("%s: %+v, %v", key, got, err)
		}
		if (want == nil) != (got.Next == nil) || want != nil && *got.Next != *want {
			t.Errorf("%s continues with %+v, want %+v", key, got.Next, want)
		}
	}
}
