package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
)

// commitRows measures how many updates a second the store takes, each on disk
// before it returns: one writer after another, and many at once.
func commitRows(ctx context.Context, l *lab) ([]row, error) {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(l.disk, l.name("commit")+".db")})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	const warm, n, many = 1, 5, 16
	got, err := interleave(ctx, warm, n, updates(s, many), updates(s, 1))
	if err != nil {
		return nil, err
	}
	return []row{row{
		Figure: fmt.Sprintf("updates of the store, %d writers", many), Ours: got[0].median(), Beside: "1 writer", Baseline: got[1].median(),
		Unit: "/s", N: n, Samples: sampled(got[0], got[1]),
	}.judge(goal{})}, nil
}

func updates(s *sqlite.Store, writers int) measurement {
	const each = 2000
	return func(ctx context.Context, _ int) (float64, error) {
		var wg sync.WaitGroup
		errs := make([]error, writers)
		began := time.Now()
		for w := range writers {
			wg.Go(func() {
				for range each / writers {
					err := s.Update(ctx, func(tx store.Tx) error {
						return tx.Log.Append(&coppice.Event{At: time.Now(), Kind: coppice.EventTaskWarned, By: "bench", Reason: "to be measured"})
					})
					if err != nil {
						errs[w] = err
						return
					}
				}
			})
		}
		wg.Wait()
		took := time.Since(began)
		for _, err := range errs {
			if err != nil {
				return 0, err
			}
		}
		return each / took.Seconds(), nil
	}
}
