package engine

import (
	"context"
	"time"

	"coppice"
	"coppice/store"
)

// unusedFor is how long an uploaded image that no task uses is kept.
const unusedFor = 24 * time.Hour

// AddImage stores an uploaded image, for a task or a message that names its id.
func (i *Intake) AddImage(ctx context.Context, data []byte) (coppice.Image, error) {
	img, err := coppice.NewImage(data, i.now())
	if err != nil {
		return img, err
	}
	return img, i.store.Update(ctx, func(tx store.Tx) error { return tx.Images.Put(img) })
}

// PruneImages removes uploaded images that no task uses.
func (i *Intake) PruneImages(ctx context.Context) error {
	return i.store.Update(ctx, func(tx store.Tx) error { return tx.Images.Prune(i.now().Add(-unusedFor)) })
}

// attach adds images to a task. Its next sessions see them.
func (i *Intake) attach(tx store.Tx, t *coppice.Task, images []string) (err error) {
	if len(images) == 0 {
		return nil
	}
	if t.Images, err = coppice.AddImages(t.Images, images); err != nil {
		return err
	}
	return i.ownImages(tx, *t, images)
}

// ownImages makes images belong to a task, and limits their size.
func (i *Intake) ownImages(tx store.Tx, t coppice.Task, images []string) error {
	for _, id := range images {
		if err := tx.Images.Own(id, t.ID); err != nil {
			return err
		}
	}
	if len(images) == 0 {
		return nil
	}
	all, err := tx.Images.Of(t.ID)
	size := int64(0)
	for _, img := range all {
		size += img.Size
	}
	if size > coppice.MaxImageBytes {
		return coppice.Errorf(coppice.ETooLarge, "the images of the task would have %s, %s are allowed", coppice.Bytes(size), coppice.Bytes(coppice.MaxImageBytes)).
			WithFix("use smaller ones, or JPEG or WebP").WithField("images")
	}
	return err
}
