package importer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"coppice"
)

var colorRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#[0-9a-fA-F]{6}$`) })

// tracks imports the tracks. In the other orchestrator each one ran one feature
// at a time.
func (t *taker) tracks(key string, v any) {
	list, ok := v.([]any)
	if !ok {
		t.refuse(key, v, wrong("a list"))
		return
	}
	var out []object
	names := map[string]bool{}
	hasDefault := false
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", key, i)
		m, ok := e.(map[string]any)
		if !ok {
			t.refuse(at, e, wrong("an object"))
			continue
		}
		given, _ := m["name"].(string)
		name := trackName(given)
		if name == "" || names[name] {
			t.say(at, e, Dropped, "", "it has no unique name")
			continue
		}
		names[name] = true
		o := object{"name": name, "limit": 1}
		why := []string{"a track ran one feature at a time: raise its limit for more"}
		if name != given {
			why = append(why, "its name became "+name)
		}
		if cats := categories(m["categories"]); len(cats) > 0 {
			o["categories"] = cats
		}
		if c, _ := m["color"].(string); colorRE().MatchString(c) {
			o["color"] = c
		} else if c != "" {
			why = append(why, "its colour is not of the form #rrggbb and was left out")
		}
		if d, _ := m["isDefault"].(bool); d && !hasDefault {
			o["default"], hasDefault = true, true
		}
		probe := object{"default": true}
		maps.Copy(probe, o)
		if err := fits("tracks", []object{probe}); err != nil {
			t.refuse(at, e, err)
			continue
		}
		out = append(out, o)
		t.say(at, e, Changed, "tracks", strings.Join(why, "; "))
	}
	if len(out) == 0 {
		return
	}
	if !hasDefault {
		out[0]["default"] = true
	}
	t.out["tracks"] = out
}

// trackName turns any name into one that Coppice accepts.
func trackName(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-")
	return name[:min(len(name), coppice.MaxName)]
}

func categories(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		s, _ := e.(string)
		if s = strings.TrimSpace(s); len(s) <= 200 && coppice.LineProblem(s) == "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// patterns imports the patterns that mean a broken environment. Their regular
// expressions are of another dialect.
func (t *taker) patterns(key string, v any) {
	list, ok := v.([]any)
	if !ok {
		t.refuse(key, v, wrong("a list"))
		return
	}
	var out []object
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", key, i)
		m, _ := e.(map[string]any)
		match, _ := m["pattern"].(string)
		label, _ := m["label"].(string)
		if _, err := regexp.Compile(match); err != nil || match == "" || strings.ContainsRune(match+label, 0) {
			t.say(at, e, Dropped, "", "its expression is not valid here; rewrite it, see https://github.com/google/re2/wiki/Syntax")
			continue
		}
		o := object{"match": match}
		if label != "" {
			o["label"] = label
		}
		if err := fits("critical_patterns", []object{o}); err != nil {
			t.refuse(at, e, err)
			continue
		}
		out = append(out, o)
		t.say(at, e, Took, "critical_patterns", "")
	}
	if len(out) > 0 {
		t.out["critical_patterns"] = out
	}
}

func (t *taker) agent(key string, v any) {
	s, _ := v.(string)
	if err := coppice.ValidName("agent", s); err != nil {
		t.refuse(key, v, err)
		return
	}
	t.in("agent")["use"] = s
	t.say(key, v, Took, "agent.use", "")
}

func (t *taker) fallback(key string, v any) {
	var good []string
	for _, s := range t.texts(key, v, "it names no agent", func(s string) error { return coppice.ValidName("agent", s) }) {
		if !slices.Contains(good, s) {
			good = append(good, s)
		}
	}
	probe := object{"fallback": good}
	maps.Copy(probe, t.in("agent"))
	switch err := fits("agent", probe); {
	case len(good) == 0:
		return
	case err != nil:
		t.refuse(key, v, err)
		return
	case len(good) < len(v.([]any)):
		t.say(key, v, Changed, "agent.fallback", "without duplicates and dropped names")
	default:
		t.say(key, v, Took, "agent.fallback", "")
	}
	t.in("agent")["fallback"] = good
}

// attempts imports a number that counts differently: there the first
// verification was included.
func (t *taker) attempts(key string, v any) {
	n, ok := number(v)
	if !ok || n < 1 || n > 100 {
		t.refuse(key, v, coppice.Errorf(coppice.EInvalid, "it is not a number from 1 to 100"))
		return
	}
	t.in("verify")["attempts"] = n - 1
	t.say(key, v, Changed, "verify.attempts", "it counts only how often a refused candidate is fixed, not the first verification")
}

// turns takes the limit of turns of a role.
func turns(role coppice.Role) func(*taker, string, any) {
	return func(t *taker, key string, v any) {
		n, ok := number(v)
		if !ok || n < 1 || n > coppice.MaxTurns {
			t.refuse(key, v, coppice.Errorf(coppice.EInvalid, "it is not a number from 1 to %d", coppice.MaxTurns))
			return
		}
		limits, _ := t.in("agent")["limits"].(object)
		if limits == nil {
			limits = object{}
		}
		limits[string(role)] = object{"turns": n}
		t.in("agent")["limits"] = limits
		t.say(key, v, Changed, fmt.Sprintf("agent.limits.%s.turns", role), "at the limit the task waits for you, and is not done")
	}
}

func number(v any) (int, bool) {
	var n int
	_, err := fmt.Sscanf(fmt.Sprint(v), "%d", &n)
	return n, err == nil && fmt.Sprint(n) == fmt.Sprint(v)
}

func (t *taker) verifier(key string, v any) {
	off, ok := v.(bool)
	if !ok {
		t.refuse(key, v, wrong("true or false"))
		return
	}
	by := coppice.VerifyAgent
	if off {
		by = coppice.VerifyNone
	}
	t.in("verify")["by"] = by
	t.say(key, v, Changed, "verify.by", "the candidate is verified before it lands")
}

func (t *taker) browser(key string, v any) {
	on, ok := v.(bool)
	if !ok {
		t.refuse(key, v, wrong("true or false"))
		return
	}
	t.in("verify")["browser"] = on
	t.say(key, v, Took, "verify.browser", "")
}
