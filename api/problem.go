package api

import (
	"net/http"

	"coppice"
)

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// Problem is an error on the wire (RFC 9457), with its code, the fix and the
// invalid field.
type Problem struct {
	Type   string       `json:"type,omitempty"`
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Code   coppice.Code `json:"code"`
	Detail string       `json:"detail" doc:"The cause"`
	Fix    string       `json:"fix,omitempty" doc:"How to fix it"`
	Field  string       `json:"field,omitempty" doc:"The invalid field of the request"`
}

var statusOf = map[coppice.Code]int{
	coppice.EInvalid:      http.StatusUnprocessableEntity,
	coppice.ENotFound:     http.StatusNotFound,
	coppice.EConflict:     http.StatusConflict,
	coppice.EUnauthorized: http.StatusUnauthorized,
	coppice.EForbidden:    http.StatusForbidden,
	coppice.ETooLarge:     http.StatusRequestEntityTooLarge,
	coppice.EUnavailable:  http.StatusServiceUnavailable,
	coppice.EInternal:     http.StatusInternalServerError,
}

// ProblemOf makes the Problem for err. An error that is not a *coppice.Error
// becomes an internal error without its cause.
func ProblemOf(err error) *Problem {
	e := coppice.Public(err)
	status, ok := statusOf[e.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	p := &Problem{Status: status, Title: http.StatusText(status), Code: e.Code, Detail: e.Cause, Fix: e.Fix, Field: e.Field}
	if e.Code == coppice.EInternal {
		p.Detail, p.Fix, p.Field = "internal error", "see the server's log", ""
	}
	return p
}

// CodeOf returns the code for an HTTP status.
func CodeOf(status int) coppice.Code {
	switch status {
	case http.StatusUnsupportedMediaType, http.StatusBadRequest, http.StatusRequestTimeout, http.StatusNotAcceptable, http.StatusMethodNotAllowed:
		return coppice.EInvalid
	}
	for code, s := range statusOf {
		if s == status {
			return code
		}
	}
	if status >= 500 {
		return coppice.EInternal
	}
	return coppice.EInvalid
}

// Err turns the Problem back into an error.
func (p *Problem) Err() *coppice.Error {
	code := p.Code
	if code == "" {
		code = CodeOf(p.Status)
	}
	return &coppice.Error{Code: code, Cause: p.Detail, Fix: p.Fix, Field: p.Field}
}

// Error implements error.
func (p *Problem) Error() string { return p.Err().Error() }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType gives JSON encoders the media type.
func (p *Problem) ContentType(string) string { return ProblemType }
