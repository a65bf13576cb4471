//go:build !linux

package main

import (
	"errors"
	"os"
)

// dropCached says that files cannot be taken out of the page cache here.
func dropCached(*os.File) error { return errors.New("only Linux takes files out of the page cache") }
