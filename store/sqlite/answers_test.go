package sqlite

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"coppice"
)

// A large answer is decoded one time, and the memory for it is bounded.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	text := func(n int) sql.NullString {
		long := strings.Repeat("x", largeAnswer) + fmt.Sprint(n)
		return sql.NullString{Valid: true, String: string(coppice.Raw(coppice.Answer{Text: long, Value: coppice.Raw(long)}))}
	}
	var u unpacker
	first := answerOf(&u, text(0))
	if again := answerOf(&u, text(0)); u.err != nil || again != first || !strings.HasSuffix(string(first.Value), `x0"`) {
		t.Errorf("%p and then %p (%v), want the same answer", first, again, u.err)
	}
	if none := answerOf(&u, sql.NullString{}); none != nil {
		t.Errorf("no answer is %+v", none)
	}
	for n := range mostAnswers / largeAnswer {
		answerOf(&u, text(n+1))
	}
	if again := answerOf(&u, text(0)); again == first || again.Text != first.Text {
		t.Errorf("%p is still kept, or has become another answer", first)
	}
	if bad := answerOf(&u, sql.NullString{Valid: true, String: strings.Repeat("{", largeAnswer)}); u.err == nil {
		t.Errorf("a text that is not JSON is %+v", bad)
	}
}
