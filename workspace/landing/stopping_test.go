package landing

import (
	"context"
	"errors"
	"testing"
)

func TestStopCtx(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	parent, end := context.WithCancel(t.Context())
	work := WithStop(parent, stop)
	first, release := stopCtx(work)
	second, cancel := stopCtx(work)
	cancel()
	if second.Err() == nil || first.Err() != nil {
		t.Fatal("cancelling one part ends that part, and no other")
	}
	close(stop)
	<-first.Done()
	if err := context.Cause(first); !errors.Is(err, errStopped) {
		t.Errorf("it ended with %v", err)
	}
	if work.Err() != nil {
		t.Error("a stop ended the whole work")
	}
	release()
	end()
	if plain, cancel := stopCtx(parent); plain.Err() == nil {
		t.Error("a part outlives its work")
	} else {
		cancel()
	}
	free, cancel := stopCtx(t.Context()) // nobody stops it
	defer cancel()
	if free.Err() != nil {
		t.Error(free.Err())
	}
}
