package coppice

import (
	"errors"
	"fmt"
	"io/fs"
)

// Code sorts errors by what the caller can do about them.
type Code string

// The codes of an Error.
const (
	EInvalid      Code = "invalid"      // the request is wrong; change it
	ENotFound     Code = "not_found"    // it does not exist
	EConflict     Code = "conflict"     // it does not fit the current state
	EUnauthorized Code = "unauthorized" // the caller is unknown
	EForbidden    Code = "forbidden"    // the caller is not allowed to do this
	ETooLarge     Code = "too_large"    // above a limit
	EUnavailable  Code = "unavailable"  // retry later, or start what is missing
	EInternal     Code = "internal"     // a bug; logged, not explained
)

// Error is an error that a person sees. It has a code, the cause in plain words
// and a fix. Any other error is shown as "internal error" and logged.
type Error struct {
	Code  Code
	Cause string // what is wrong, without knowledge of the source code
	Fix   string // what to do about it; empty if nothing can be done
	Field string // the wrong field of the request, if any
	Err   error  // the underlying error, for the log
}

// Error implements error. It prints cause and fix, so that an error in a plain
// log line is still useful.
func (e *Error) Error() string {
	s := e.Cause
	if e.Field != "" {
		s = e.Field + ": " + s
	}
	if e.Fix != "" {
		s += " (" + e.Fix + ")"
	}
	return s
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error with a formatted cause. It supports %w.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Cause: err.Error(), Err: errors.Unwrap(err)}
}

// WithFix returns a copy with a fix.
func (e *Error) WithFix(format string, args ...any) *Error {
	c := *e
	c.Fix = fmt.Sprintf(format, args...)
	return &c
}

// WithField returns a copy that names the field of the request.
func (e *Error) WithField(name string) *Error {
	c := *e
	c.Field = name
	return &c
}

// ErrorCode returns the code of the first Error in err's chain, EInternal for
// any other error, and "" for nil.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return EInternal
}

// Public returns the Error to show for err: the first one in its chain, or an
// EInternal one without the cause.
func Public(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: EInternal, Cause: "internal error", Fix: "see the server's log", Err: err}
}

// WithoutPath returns the cause of an error about a file, without the name of the
// file.
func WithoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
