package http

// Routes lists the patterns that the server has handlers for.
func (s *Server) Routes() []string { return s.mux.patterns }

// MaxBody is the bound on any body.
const MaxBody = maxBody
