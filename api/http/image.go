package http

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/store"
)

type uploadIn struct {
	Body struct {
		Data []byte `json:"data" doc:"The bytes of a PNG, JPEG, GIF or WebP image of at most 5 MiB, in base64"`
	}
}

type attachedIn struct {
	ID string `path:"id" maxLength:"64" doc:"The id of an uploaded image"`
}

type imageIn struct {
	SessionIn
	Offset int64 `path:"offset" minimum:"0" doc:"The offset of a piece of output of kind image"`
}

// imagePolicy is for a picture that is opened in its own tab: nothing in it
// runs, whatever its bytes contain.
const imagePolicy = "default-src 'none'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// imageBody is the most bytes of an upload. It is larger than an image can be,
// so that the error for most others names the limit.
const imageBody = 16 << 20

// imageRoutes accept and serve the images that people attach, and serve the
// pictures that sessions took.
func (s *Server) imageRoutes(a huma.API) {
	add(s, a, op{method: http.MethodPost, path: "/images", id: "upload-image", tag: "tasks", status: http.StatusCreated, body: imageBody,
		about: "Upload an image for a task or a message, which name its id within a day"},
		func(ctx context.Context, in *uploadIn) (coppice.Image, error) {
			return s.cfg.Tasks.AddImage(ctx, in.Body.Data)
		})
	o := picture(op{method: http.MethodGet, path: "/images/{id}", id: "show-image", tag: "tasks", about: "An image that a person attached"})
	huma.Register(a, o, func(ctx context.Context, in *attachedIn) (*huma.StreamResponse, error) {
		var img coppice.Image
		err := s.cfg.Store.View(ctx, func(r store.Reader) (err error) {
			img, err = r.Images.Get(in.ID)
			return err
		})
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return sendPicture(img.Type, img.Data), nil
	})
	s.evidenceRoute(a)
}

// picture describes a route that serves a picture.
func picture(o op) huma.Operation {
	out := o.operation(http.StatusNotFound)
	raw := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	out.Responses = map[string]*huma.Response{"200": {
		Description: "A picture", Content: map[string]*huma.MediaType{"image/png": raw, "image/jpeg": raw, "image/webp": raw},
	}}
	return out
}

// sendPicture sends bytes that never change.
func sendPicture(kind string, data []byte) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(c huma.Context) {
		c.SetHeader("Content-Type", kind)
		c.SetHeader("Content-Length", strconv.Itoa(len(data)))
		c.SetHeader("Content-Security-Policy", imagePolicy)
		c.SetHeader("Cache-Control", "private, max-age=31536000, immutable")
		_, _ = c.BodyWriter().Write(data) // the reader might be gone
	}}
}

// evidenceRoute serves a picture that a session took. The piece at an offset
// never changes.
func (s *Server) evidenceRoute(a huma.API) {
	o := picture(op{method: http.MethodGet, path: "/sessions/{key}/images/{offset}", id: "session-image", tag: "sessions",
		about: "A picture that a session took as evidence"})
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
		return sendPicture(kind, picture.Data), nil
	})
}
