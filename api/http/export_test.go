package http

import "github.com/danielgtaylor/huma/v2"

// Routes lists the patterns that the server has handlers for.
func (s *Server) Routes() []string { return s.mux.patterns }

// MaxBody is the bound on any body.
const MaxBody = maxBody

// NewSchemas returns the registry of the API's types.
func NewSchemas() huma.Registry { return newSchemas() }
