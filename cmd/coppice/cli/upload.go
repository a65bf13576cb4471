package cli

import (
	"context"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api/client"
)

// imageFlag adds the flag for images to a command.
func imageFlag(c *cobra.Command, files *[]string) {
	c.Flags().StringArrayVar(files, "image", nil, "a PNG, JPEG, GIF or WebP `file` for the agent, if it can see images (repeatable)")
}

// upload stores the images in files, and returns their ids.
func (e *Env) upload(ctx context.Context, cl *client.Client, files []string) (ids []string, err error) {
	for _, file := range files {
		data, err := e.readFile(file, coppice.MaxImage)
		if err != nil {
			return nil, err
		}
		id, err := cl.Upload(ctx, data)
		if err != nil {
			return nil, coppice.Public(err).WithField(file)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
