package coppice

import (
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of data, written as 256 MiB.
type Bytes int64

// byteUnits are the units of an amount of data, the largest first.
var byteUnits = []struct {
	name string
	size int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// unitSizes are the units that people can write. Units without an i count in
// thousands, as for disks.
var unitSizes = map[string]int64{
	"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
	"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
}

// MarshalText writes the amount exactly, in the largest unit that divides it.
func (b Bytes) MarshalText() ([]byte, error) {
	for _, u := range byteUnits {
		if b != 0 && int64(b)%u.size == 0 {
			return []byte(strconv.FormatInt(int64(b)/u.size, 10) + " " + u.name), nil
		}
	}
	return []byte("0 B"), nil
}

// UnmarshalText reads an amount with its unit. Without a unit it is in bytes.
func (b *Bytes) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	number := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	size, known := unitSizes[strings.ToLower(strings.TrimSpace(s[len(number):]))]
	plain := number != "" && strings.Trim(number, "0123456789.") == ""
	n, err := strconv.ParseFloat(number, 64)
	if n *= float64(size); !known || !plain || err != nil || n >= math.MaxInt64 {
		return Errorf(EInvalid, "%s is not a valid amount of data", Quote(s)).WithFix("write it as 512 KiB, 256 MiB or 2 GiB")
	}
	*b = Bytes(n)
	return nil
}

// String writes the amount for people, rounded to three digits.
func (b Bytes) String() string {
	for _, u := range byteUnits {
		n := float64(b) / float64(u.size)
		if n < 1 || u.size == 1 {
			continue
		}
		digits := 0
		if n < 100 && int64(b)%u.size != 0 {
			digits = 1
		}
		return strconv.FormatFloat(n, 'f', digits, 64) + " " + u.name
	}
	return strconv.FormatInt(int64(b), 10) + " B"
}

// DefaultDisk is the default of Limits.Disk.
const DefaultDisk Bytes = 100 << 20

// LeastDisk returns how much of the disk must be free so that a session starts. A
// policy that was stored before the key existed has none.
func (l Limits) LeastDisk() Bytes {
	if l.Disk == 0 {
		return DefaultDisk
	}
	return l.Disk
}
