package redact

import "bytes"

const (
	// maxKeyLines is how many lines a private key can have at most.
	maxKeyLines = 400
	// maxKeyKind is how much can stand between "-----BEGIN " and "-----".
	maxKeyKind = 60
	// leastKeyLine is how long a run of base64 is that a screen shows of a key.
	leastKeyLine = 40
)

const (
	keyBegin = "-----BEGIN "
	keyEnd   = "-----END "
	keyKind  = "PRIVATE KEY"
	dashes   = "-----"
)

var keyBytes = alnum.with("+/=")

// keyBegins finds the first line of a private key.
func keyBegins(text []byte, at int, more bool) hit {
	s := text[at:]
	if v := begins(s, keyBegin, more); v != found {
		return hit{verdict: v}
	}
	kind := s[len(keyBegin):]
	if n := bytes.IndexByte(kind, '\n'); n >= 0 {
		kind, more = kind[:n], false
	}
	j := bytes.Index(kind, []byte(dashes))
	switch {
	case j < 0 && len(kind) < maxKeyKind+len(dashes) && more:
		return hit{verdict: open}
	case j < 0 || j > maxKeyKind || !bytes.Contains(kind[:j], []byte(keyKind)):
		return hit{}
	}
	return hit{verdict: found, from: at, to: at + len(keyBegin) + j + len(dashes), key: true}
}

// keyLine judges the next line of a private key, of which so many lines came
// before. It returns how much of it belongs to the key, and the number of lines
// from then on, 0 when the key is over. Open means that the line is not complete.
func keyLine(text []byte, lines int, more bool) (size, next int, v verdict) {
	if len(text) > maxSecret {
		text, more = text[:maxSecret], false
	}
	line := text
	if n := bytes.IndexByte(text, '\n') + 1; n > 0 {
		line, more = text[:n], false
	}
	if more {
		return 0, lines, open
	}
	if i := bytes.Index(line, []byte(keyEnd)); i >= 0 {
		end := i + len(keyEnd)
		if j := bytes.Index(line[end:], []byte(dashes)); j >= 0 && j <= maxKeyKind {
			end += j + len(dashes)
		}
		return end, 0, found
	}
	if lines > 1 && !inKey(line) || lines > maxKeyLines {
		return 0, 0, none // it was never ended: a person only wrote about one
	}
	return len(line), lines + 1, found
}

// inKey reports whether a line can be part of a private key: base64, a header
// such as "Proc-Type: 4,ENCRYPTED", or nothing, behind marks of a quote or diff.
func inKey(line []byte) bool {
	text := bytes.TrimSpace(bytes.TrimLeft(bytes.TrimSpace(line), "+-|> "))
	if keyBytes.run(text) == len(text) {
		return true
	}
	name := dashed.run(text)
	return name > 0 && bytes.HasPrefix(text[name:], []byte(": "))
}

// keyOnScreen finds, while a screen shows a private key, the runs that are part
// of it, and its end. Everything else passes: it may place the cursor.
func keyOnScreen(text []byte, at int, more bool) hit {
	if text[at] == '-' {
		v := begins(text[at:], keyEnd, more)
		return hit{verdict: v, from: at, to: at}
	}
	if !keyBytes[text[at]] || withinSequence(text, at) || at > 0 && keyBytes[text[at-1]] && !behindSequence(text, at) {
		return hit{}
	}
	n := keyBytes.run(text[at:])
	switch {
	case at+n == len(text) && more:
		return hit{verdict: open}
	case n < leastKeyLine:
		return hit{}
	}
	return hit{verdict: found, from: at, to: at + n, key: true}
}
