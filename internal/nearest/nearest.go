// Package nearest finds the name that a person probably meant.
package nearest

import "strings"

// Name returns the one of names that was probably meant, or "" if none is close:
// more than half of the letters must match.
func Name(name string, names []string) string {
	best, at := "", max(2, len(name)/3)+1
	for _, n := range names {
		if d := distance(strings.ToLower(name), n, at); d < at && 2*d < max(len(name), len(n)) {
			best, at = n, d
		}
	}
	return best
}

// distance returns how many letters to insert, delete, replace or swap to turn
// b into a, up to bound.
func distance(a, b string, bound int) int {
	if d := len(a) - len(b); d >= bound || -d >= bound {
		return bound
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return min(last[len(b)], bound)
}
