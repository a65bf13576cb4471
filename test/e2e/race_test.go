//go:build linux && race

package e2e

func init() { buildFlags = append(buildFlags, "-race") }
