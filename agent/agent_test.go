package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"coppice"
)

func TestLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\r\n"))).Draw(t, "text")
		var want, got []string
		for _, l := range strings.Split(text, "\n") {
			if l = strings.TrimSuffix(l, "\r"); l != "" {
				want = append(want, l)
			}
		}
		var lines Lines
		add := func(b []byte) { got = append(got, string(b)) }
		for b := []byte(text); len(b) > 0; {
			n := rapid.IntRange(1, len(b)).Draw(t, "cut")
			lines.Add(b[:n], add)
			b = b[n:]
		}
		lines.End(add)
		if strings.Join(want, "\n") != strings.Join(got, "\n") {
			t.Fatalf("%q gives %q, want %q", text, got, want)
		}
	})
}

func TestLongLineIsCut(t *testing.T) {
	t.Parallel()
	var lines Lines
	var sizes []int
	add := func(b []byte) { sizes = append(sizes, len(b)) }
	lines.Add(make([]byte, MaxLine-1), add)
	lines.Add([]byte("abc\nnext\n"), add)
	if len(sizes) != 2 || sizes[0] != MaxLine || sizes[1] != 4 {
		t.Errorf("lines of %v bytes", sizes)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", "bad \xff byte", strings.Repeat("ä", MaxText), strings.Repeat("\x80", 2*MaxText)} {
		got := Text([]byte(s))
		if !utf8.ValidString(got) || len(got) > 3*MaxText+3 {
			t.Errorf("%.20q gives %d bytes, valid %v", s, len(got), utf8.ValidString(got))
		}
	}
}

func TestTextClass(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]coppice.Class{
		"prompt is too long: 250000 tokens":                             coppice.ClassContext,
		"Your credit balance is too low":                                coppice.ClassBilling,
		"exceeded retry limit, last status: 429 Too Many Requests":      coppice.ClassRateLimit,
		"unexpected status 401 Unauthorized: invalid x-api-key":         coppice.ClassAuth,
		"Not logged in · Please run /login":                             coppice.ClassAuth,
		"We're currently experiencing high demand":                      coppice.ClassOverload,
		"write /x: no space left on device":                             coppice.ClassDisk,
		"connection refused":                                            coppice.ClassEnvironment,
		"The model `gpt-9` does not exist or you do not have access":    coppice.ClassCapability,
		"error: unexpected argument '--nope' found":                     coppice.ClassCapability,
		"Internal error: Reached maximum number of turns (1)":           coppice.ClassImplementation,
		"Reached max session turns for this session.":                   coppice.ClassImplementation,
		"Reached maximum budget ($0.5)":                                 coppice.ClassBudget,
		"something else":                                                coppice.ClassUnknown,
		"You exceeded your current quota, please check your plan (429)": coppice.ClassBilling,

		`{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}`: coppice.ClassRateLimit,
		"You have exhausted your daily quota on this model.":                                                    coppice.ClassRateLimit,
		"Internal error: Session too large to compact - context exceeds model limit even after stripping media": coppice.ClassContext,
		"The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).":               coppice.ClassContext,
		"ContextOverflowError": coppice.ClassContext,
		"Internal error: Country, region, or territory not supported":                       coppice.ClassAuth,
		"You didn't provide an API key.":                                                    coppice.ClassAuth,
		"Method doesn't allow unregistered callers (callers without established identity).": coppice.ClassAuth,
		"API key not valid. Please pass a valid API key.":                                   coppice.ClassAuth,
		"ProviderAuthError": coppice.ClassAuth,
		"The server had an error while processing your request. Sorry about that!": coppice.ClassOverload,
		"Internal error: terminated": coppice.ClassOverload,
		"terminated":                 coppice.ClassOverload,
		"Error: it died\n    at ChildProcess.emit (node:events:536:35)\n    at other (node:429:401)":                               coppice.ClassUnknown,
		"[API Error: You exceeded your current quota, please check your plan and billing details.\nSuggested retry after 18000s.]": coppice.ClassRateLimit,
		`error="it died" stack="Error: it died\n    at <anonymous> (/$bunfs/root/x.js:6:503)\n    at emit (native:429:39)"`:        coppice.ClassUnknown,
		"[API Error: terminated]": coppice.ClassOverload,
		"No auth type is selected. Please configure an auth type before running": coppice.ClassAuth,
		"the build was terminated": coppice.ClassUnknown,
	} {
		if got := TextClass(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestDied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x       Exit
		said    string
		stopped bool
		want    coppice.Class
	}{
		{Exit{Code: -1, Signal: "SIGKILL"}, "", false, coppice.ClassLost},
		{Exit{Code: -1, Signal: "SIGTERM"}, "", true, coppice.ClassCancelled},
		{Exit{Code: 143}, "", false, coppice.ClassLost},
		{Exit{Code: 127}, "not found", false, coppice.ClassCapability},
		{Exit{Code: 1}, "Not logged in", false, coppice.ClassAuth},
		{Exit{Code: 0}, "", false, coppice.ClassUnknown},
	} {
		if f := Died(c.x, c.said, c.stopped); f.Class != c.want || f.Text == "" {
			t.Errorf("%+v: %+v, want %s", c.x, f, c.want)
		}
	}
}
