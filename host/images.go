package host

import (
	"fmt"
	"os"
	"path/filepath"

	"coppice"
	"coppice/agent"
)

// imagesDir has the images that people attached, in a session's directory.
const imagesDir = "images"

// AddImage writes an image for the session in dir, under a name. It can be
// repeated.
func AddImage(dir, name string, data []byte) error {
	if err := coppice.ValidName("image", name); err != nil {
		return err
	}
	dir = filepath.Join(dir, imagesDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if err := writeFile(filepath.Join(dir, name), data); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	return nil
}

// images reads images of the session.
func (h *host) images(names []string) ([]agent.Image, error) {
	var all []agent.Image
	for _, name := range names {
		if err := coppice.ValidName("image", name); err != nil {
			return nil, err
		}
		path := filepath.Join(h.dir, imagesDir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("host: %w", err)
		}
		img, err := coppice.NewImage(data, h.now())
		if err != nil {
			return nil, err
		}
		all = append(all, agent.Image{Type: img.Type, Path: path, Data: data})
	}
	return all, nil
}

// showImages adds the images of the prompt to the request. An agent that cannot
// see images gets a sentence that says so.
func (h *host) showImages(p agent.Protocol) error {
	images, err := h.images(h.spec.Images)
	if err != nil || len(images) == 0 {
		return err
	}
	r := &h.spec.Request
	if _, sees := p.Driver(h.spec.Profile, agent.Request{}).(agent.Viewer); sees {
		r.Images = images
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note(agent.Unseen(len(images)))
	if r.Prompt != "" { // otherwise a person continues on a screen
		r.Prompt = agent.WithoutImages(r.Prompt, len(images))
	}
	return nil
}

// send passes a message to the driver. The caller holds mu.
func (h *host) send(d agent.Driver, r request) (agent.Step, error) {
	if len(r.Images) == 0 || r.Ref != "" {
		return d.Send(r.Text, r.Ref)
	}
	images, err := h.images(r.Images)
	if err != nil {
		return agent.Step{}, err
	}
	if v, ok := d.(agent.Viewer); ok {
		return v.SendImages(r.Text, images)
	}
	step, err := d.Send(agent.WithoutImages(r.Text, len(images)), "")
	if err == nil {
		h.note(agent.Unseen(len(images)))
	}
	return step, err
}
