package coppice

import (
	"errors"
	"fmt"
)

// Code sorts errors by what the caller can do about them.
type Code string

// The codes an Error can carry.
const (
	EInvalid      Code = "invalid"      // the request is wrong; change it
	ENotFound     Code = "not_found"    // no such thing
	EConflict     Code = "conflict"     // it does not fit the present state
	EUnauthorized Code = "unauthorized" // who are you?
	EForbidden    Code = "forbidden"    // you may not
	ETooLarge     Code = "too_large"    // over a limit
	EUnavailable  Code = "unavailable"  // try later, or start what is missing
	EInternal     Code = "internal"     // our fault; logged, not explained
)

// Error is an error a person sees. It carries a code, the cause in plain words
// and a way out. Any other error is shown as "internal error" and logged.
type Error struct {
	Code  Code   // what kind
	Cause string // what is wrong, in words that need no source code
	Fix   string // what to do about it; may be empty when nothing can be done
	Field string // the field of the request that is wrong, if one is
	Err   error  // what lies beneath, for the log
}

// Error implements error. It prints cause and way out, so that an error that
// leaks into a plain log line is still useful.
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

// Unwrap returns what lies beneath.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error with a formatted cause; %w is honoured.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Cause: err.Error(), Err: errors.Unwrap(err)}
}

// WithFix returns a copy that tells the way out.
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
// EInternal one that says nothing of the cause.
func Public(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: EInternal, Cause: "internal error", Fix: "see the server's log", Err: err}
}
