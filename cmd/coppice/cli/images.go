package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// saved is a picture in a file.
type saved struct {
	Session string `json:"session"`
	Offset  int64  `json:"offset"`
	Size    int64  `json:"size"`
	Path    string `json:"path"`
}

// saveImages saves the pictures of a session, or of all sessions of a task.
func (e *Env) saveImages(ctx context.Context, cl *client.Client, key string, session bool, f logFlags) error {
	if f.images == "" {
		return usage{coppice.Errorf(coppice.EInvalid, "no directory is named").WithFix("pass --images DIR").WithField("images")}
	}
	keys := []string{key}
	if !session {
		t, err := cl.Task(ctx, key)
		if err != nil {
			return err
		}
		keys = nil
		for _, s := range t.History {
			keys = append(keys, s.Key)
		}
	}
	dir := f.images
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(e.Dir, dir)
	}
	n := 0
	for _, k := range keys {
		list, err := images(ctx, cl, k)
		if err != nil {
			return err
		}
		for i, o := range list {
			s, err := saveImage(ctx, cl, filepath.Join(dir, fmt.Sprintf("%s-%d", k, i+1)), k, o)
			if err != nil {
				return err
			}
			n++
			if f.json {
				err = e.jsonLine(s)
			} else {
				e.printf("%s\n", s.Path)
			}
			if err != nil {
				return err
			}
		}
	}
	if n == 0 && !f.json {
		e.printf("%s took no pictures\n", key)
	}
	return nil
}

// images lists the pictures of a session.
func images(ctx context.Context, cl *client.Client, key string) (all []api.Output, err error) {
	for after := int64(-1); ; {
		page, err := cl.Output(ctx, key, after, coppice.OutputImage)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Output...)
		if !page.More {
			return all, nil
		}
		after = page.Next
	}
}

// saveImage writes one picture. It leaves an existing file as it is: the file
// is this picture, saved before, or the user's own.
func saveImage(ctx context.Context, cl *client.Client, name, session string, o api.Output) (saved, error) {
	picture, err := cl.Image(ctx, session, o.Offset)
	if err != nil {
		return saved{}, err
	}
	kind := coppice.ImageType(picture)
	if kind == "" {
		return saved{}, coppice.Errorf(coppice.EUnavailable, "the output of %s at offset %d is not a picture", session, o.Offset)
	}
	s := saved{Session: session, Offset: o.Offset, Size: int64(len(picture)), Path: name + "." + strings.TrimPrefix(kind, "image/")}
	unwritable := func(err error) (saved, error) {
		return saved{}, coppice.Errorf(coppice.EUnavailable, "the picture cannot be saved: %w", err).WithFix("name a directory that can be written")
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o755); err != nil {
		return unwritable(err)
	}
	f, err := os.OpenFile(s.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		if there, err := os.ReadFile(s.Path); err != nil || !bytes.Equal(there, picture) {
			return saved{}, coppice.Errorf(coppice.EConflict, "%s already exists and is another file", s.Path).WithFix("name another directory")
		}
		return s, nil
	}
	if err != nil {
		return unwritable(err)
	}
	_, err = f.Write(picture)
	if err = errors.Join(err, f.Close()); err != nil {
		return unwritable(errors.Join(err, os.Remove(s.Path)))
	}
	return s, nil
}

// countImages returns how many pictures each of the verifiers among the
// sessions took, by key.
func countImages(ctx context.Context, cl *client.Client, sessions []coppice.Session) (map[string]int, error) {
	counts := map[string]int{}
	for _, s := range sessions {
		if s.Role != coppice.RoleVerify {
			continue
		}
		list, err := images(ctx, cl, s.Key)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			counts[s.Key] = len(list)
		}
	}
	return counts, nil
}

func (e *Env) printImages(sessions []coppice.Session, pictures map[string]int) {
	if len(pictures) == 0 {
		return
	}
	e.printf("\n%s\n", e.paint(bold, "Evidence"))
	for _, s := range sessions {
		if n := pictures[s.Key]; n > 0 {
			e.printf("%s  %s %s\n", s.Key, count(n, "picture"), e.paint(dim, "(coppice logs "+s.Key+" --images DIR saves them)"))
		}
	}
}

// bytesOf formats a size for people.
func bytesOf(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
