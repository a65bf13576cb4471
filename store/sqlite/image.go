package sqlite

import (
	"time"

	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func imageOf(r dbsqlc.Image) (coppice.Image, error) {
	return coppice.Image{ID: r.ID, Type: r.Type, Size: r.Size, At: at(r.At), Data: r.Data}, nil
}

func (r images) Get(id string) (coppice.Image, error) {
	return one(imageOf, "image", id)(r.q.Image(r.ctx, id))
}

func (r images) Of(task int64) ([]coppice.Image, error) {
	rows, err := r.q.ImagesOf(r.ctx, task)
	return each(rows, err, func(r dbsqlc.ImagesOfRow) (coppice.Image, error) {
		return coppice.Image{ID: r.ID, Type: r.Type, Size: r.Size, At: at(r.At)}, nil
	})
}

func (t images) Put(i coppice.Image) error {
	return t.q.PutImage(t.ctx, dbsqlc.PutImageParams{ID: i.ID, Type: i.Type, Size: i.Size, At: moment(i.At), Data: i.Data})
}

func (t images) Own(id string, task int64) error {
	if n, err := t.q.OwnImage(t.ctx, task, id); err != nil || n > 0 {
		return err
	}
	if _, err := t.Get(id); err != nil {
		return err
	}
	return t.q.CopyImage(t.ctx, task, id)
}

func (t images) Prune(before time.Time) error { return t.q.PruneImages(t.ctx, moment(before)) }
