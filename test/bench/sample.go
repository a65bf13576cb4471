package main

import (
	"context"
	"slices"
	"time"

	"coppice/internal/clock"
)

// samples are measurements of one thing, in the order in which they were taken.
type samples []float64

// median is the middle, or the mean of the two in the middle; 0 without samples.
func (s samples) median() float64 {
	if len(s) == 0 {
		return 0
	}
	o := slices.Sorted(slices.Values(s))
	if n := len(o); n%2 == 0 {
		return (o[n/2-1] + o[n/2]) / 2
	}
	return o[len(o)/2]
}

// mean is the average; 0 without samples.
func (s samples) mean() float64 {
	if len(s) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum / float64(len(s))
}

// measurement takes one sample. Its number counts from 0, warm-ups included.
type measurement func(ctx context.Context, i int) (float64, error)

// pause lets what the last sample left behind settle.
const pause = 50 * time.Millisecond

// interleave takes n samples of each, one after the other in turns, so that
// whatever the machine does besides falls on all alike. Samples of the first
// warm rounds are thrown away.
func interleave(ctx context.Context, warm, n int, each ...measurement) ([]samples, error) {
	out := make([]samples, len(each))
	for i := range warm + n {
		for j, m := range each {
			v, err := m(ctx, i)
			if err != nil {
				return nil, err
			}
			if i >= warm {
				out[j] = append(out[j], v)
			}
			if err := rest(ctx, pause); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// rest waits, or ends with the context.
func rest(ctx context.Context, d time.Duration) error {
	return clock.Sleep(ctx, clock.Real(), d)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
