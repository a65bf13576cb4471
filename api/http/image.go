package http

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/store"
)

type imageIn struct {
	SessionIn
	Offset int64 `path:"offset" minimum:"0" doc:"The offset of a piece of output of kind image"`
}

// imagePolicy is for a picture that is opened in its own tab: nothing in it
// runs, whatever its bytes contain.
const imagePolicy = "default-src 'none'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// imageRoute serves a picture that a session took. The piece at an offset never
// changes.
func (s *Server) imageRoute(a huma.API) {
	o := op{method: http.MethodGet, path: "/sessions/{key}/images/{offset}", id: "session-image", tag: "sessions",
		about: "A picture that a session took as evidence"}.operation(http.StatusNotFound)
	raw := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	o.Responses = map[string]*huma.Response{"200": {
		Description: "A picture", Content: map[string]*huma.MediaType{"image/png": raw, "image/jpeg": raw, "image/webp": raw},
	}}
	huma.Register(a, o, func(ctx context.Context, in *imageIn) (*huma.StreamResponse, error) {
		var picture coppice.Output
		err := s.cfg.Store.View(ctx, func(r store.Reader) error {
			sess, err := sessionByKey(r, in.Key)
			if err != nil {
				return err
			}
			picture, err = r.Outputs.Picture(sess.ID, in.Offset)
			return err
		})
		kind := coppice.ImageType(picture.Data)
		if err == nil && kind == "" {
			err = coppice.Errorf(coppice.ENotFound, "the output of %s at offset %d is not a picture", in.Key, in.Offset)
		}
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			c.SetHeader("Content-Type", kind)
			c.SetHeader("Content-Length", strconv.Itoa(len(picture.Data)))
			c.SetHeader("Content-Security-Policy", imagePolicy)
			c.SetHeader("Cache-Control", "private, max-age=31536000, immutable")
			_, _ = c.BodyWriter().Write(picture.Data) // the reader might be gone
		}}, nil
	})
}
