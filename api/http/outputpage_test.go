package http_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// A page is small, however large the pieces are. All pages together have every
// piece one time, forwards and backwards.
func TestPagesOfLargePieces(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "task")
	x := b.Session("app-1", coppice.SessionDone, nil)
	var want []string
	for i := range 60 {
		text := fmt.Sprintf("%d %s", i, strings.Repeat("x", i*i*137%300_000))
		b.Write(x.ID, coppice.OutputStdout, text)
		want = append(want, text)
	}
	b.Write(x.ID, coppice.OutputStdout, strings.Repeat("y", 5<<20))
	want = append(want, strings.Repeat("y", 5<<20))
	var pages []api.OutputPage
	for after := int64(-1); ; {
		page, err := b.Client.Output(b.Ctx, "app-1.1", after)
		b.Must(err)
		if pages = append(pages, page); !page.More {
			break
		}
		after = page.Next
	}
	check(t, "forwards", pages, want)
	pages = nil
	for before := int64(-1); ; {
		page, err := b.Client.OutputBefore(b.Ctx, "app-1.1", before, 1000)
		b.Must(err)
		if pages = append(pages, page); page.Prev == 0 {
			break
		}
		before = page.Prev
	}
	slices.Reverse(pages)
	check(t, "backwards", pages, want)
}

func check(t *testing.T, how string, pages []api.OutputPage, want []string) {
	t.Helper()
	var got []string
	for i, p := range pages {
		if len(p.Output) == 0 && i == len(pages)-1 {
			continue // the page before it could not know that it was the last
		}
		size := 0
		for _, o := range p.Output {
			got = append(got, string(o.Data))
			size += len(o.Data)
		}
		if most := 1<<20 + len(p.Output[0].Data) + len(p.Output[len(p.Output)-1].Data); size > most {
			t.Errorf("%s: page %d has %d bytes in %d pieces", how, i, size, len(p.Output))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d pieces of %d", how, len(got), len(want))
	}
	if len(pages) < 5 {
		t.Errorf("%s: all of it in %d pages", how, len(pages))
	}
}
