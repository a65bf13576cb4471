package conformance

//lint:file-ignore SA1019 the suite also tests features that the newest protocol no longer has

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The names and texts of the fixtures are those that the suite asks for.

func text(format string, a ...any) mcp.Content {
	return &mcp.TextContent{Text: fmt.Sprintf(format, a...)}
}

func picture() []byte {
	var b strings.Builder
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return []byte(b.String())
}

func silence() []byte {
	return []byte("RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00")
}

func embedded(uri string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "an embedded resource"}}
}

type toolIn struct {
	Prompt  string `json:"prompt,omitempty"`
	Message string `json:"message,omitempty"`
}

// fixture answers one of the suite's tools.
type fixture func(context.Context, *mcp.CallToolRequest, toolIn) ([]mcp.Content, error)

func says(c ...mcp.Content) fixture {
	return func(context.Context, *mcp.CallToolRequest, toolIn) ([]mcp.Content, error) { return c, nil }
}

// elicits asks the client to fill in a form.
func elicits(properties string) fixture {
	return func(ctx context.Context, r *mcp.CallToolRequest, in toolIn) ([]mcp.Content, error) {
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: in.Message + " ", RequestedSchema: json.RawMessage(`{"type":"object","properties":` + properties + `}`)})
		if err != nil {
			return nil, err
		}
		return []mcp.Content{text("action=%s, content=%v", got.Action, got.Content)}, nil
	}
}

var fixtures = map[string]fixture{
	"test_simple_text":            says(text("This is a simple text response for testing.")),
	"test_image_content":          says(&mcp.ImageContent{Data: picture(), MIMEType: "image/png"}),
	"test_audio_content":          says(&mcp.AudioContent{Data: silence(), MIMEType: "audio/wav"}),
	"test_embedded_resource":      says(embedded("test://embedded-resource")),
	"test_multiple_content_types": says(text("some text"), &mcp.ImageContent{Data: picture(), MIMEType: "image/png"}, embedded("test://mixed-content-resource")),
	"test_error_handling": func(context.Context, *mcp.CallToolRequest, toolIn) ([]mcp.Content, error) {
		return nil, errors.New("this tool intentionally returns an error for testing")
	},
	"test_tool_with_logging": func(ctx context.Context, r *mcp.CallToolRequest, _ toolIn) ([]mcp.Content, error) {
		for _, step := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: step}); err != nil {
				return nil, err
			}
		}
		return []mcp.Content{text("logged")}, nil
	},
	"test_tool_with_progress": func(ctx context.Context, r *mcp.CallToolRequest, _ toolIn) ([]mcp.Content, error) {
		for _, at := range []float64{0, 50, 100} {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: at, Total: 100}); err != nil {
				return nil, err
			}
		}
		return []mcp.Content{text("%v", r.Params.GetProgressToken())}, nil
	},
	"test_sampling": func(ctx context.Context, r *mcp.CallToolRequest, in toolIn) ([]mcp.Content, error) {
		got, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: text("%s", in.Prompt)}}})
		if err != nil {
			return nil, err
		}
		said, _ := got.Content.(*mcp.TextContent)
		return []mcp.Content{text("LLM response: %v", said)}, nil
	},
	"test_elicitation":                  elicits(`{"username":{"type":"string"},"email":{"type":"string"}}`),
	"test_elicitation_sep1034_defaults": elicits(`{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}`),
	"test_elicitation_sep1330_enums": elicits(`{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}`),
	"test_reconnection": func(_ context.Context, r *mcp.CallToolRequest, _ toolIn) ([]mcp.Content, error) {
		if r.Extra != nil && r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10_000_000})
		}
		return []mcp.Content{text("Reconnection test completed successfully")}, nil
	},
}

const schema202012 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
	"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}`

// fixtureServer returns a server with everything that the suite asks for.
func fixtureServer(t *testing.T) *mcp.Server {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "fixtures", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	for name, f := range fixtures {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "a fixture"}, func(ctx context.Context, r *mcp.CallToolRequest, in toolIn) (*mcp.CallToolResult, any, error) {
			c, err := f(ctx, r, in)
			return &mcp.CallToolResult{Content: c}, nil, err
		})
	}
	mcp.AddTool(s, &mcp.Tool{Name: "json_schema_2020_12_tool", Description: "a fixture", InputSchema: json.RawMessage(schema202012)},
		func(_ context.Context, _ *mcp.CallToolRequest, in json.RawMessage) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{text("%s", in)}}, nil, nil
		})
	addResources(s)
	addPrompts(s)
	return s
}

func addResources(s *mcp.Server) {
	read := func(of mcp.ResourceContents) mcp.ResourceHandler {
		return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := of
			c.URI = r.Params.URI
			if id, found := strings.CutPrefix(c.URI, "test://template/"); found {
				id, _, _ = strings.Cut(id, "/")
				c.Text = fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		}
	}
	plain := mcp.ResourceContents{MIMEType: "text/plain", Text: "This is the content of the static text resource."}
	s.AddResource(&mcp.Resource{Name: "text", MIMEType: "text/plain", URI: "test://static-text"}, read(plain))
	s.AddResource(&mcp.Resource{Name: "watched", MIMEType: "text/plain", URI: "test://watched-resource"}, read(plain))
	s.AddResource(&mcp.Resource{Name: "binary", MIMEType: "image/png", URI: "test://static-binary"}, read(mcp.ResourceContents{MIMEType: "image/png", Blob: picture()}))
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", MIMEType: "application/json", URITemplate: "test://template/{id}/data"}, read(mcp.ResourceContents{MIMEType: "application/json"}))
}

func addPrompts(s *mcp.Server) {
	add := func(name string, of func(a map[string]string) []mcp.Content, args ...string) {
		p := &mcp.Prompt{Name: name, Description: "a fixture"}
		for _, a := range args {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Description: "an argument", Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			out := &mcp.GetPromptResult{}
			for _, c := range of(r.Params.Arguments) {
				out.Messages = append(out.Messages, &mcp.PromptMessage{Role: "user", Content: c})
			}
			return out, nil
		})
	}
	add("test_simple_prompt", func(map[string]string) []mcp.Content {
		return []mcp.Content{text("This is a simple prompt for testing.")}
	})
	add("test_prompt_with_arguments", func(a map[string]string) []mcp.Content {
		return []mcp.Content{text("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"])}
	}, "arg1", "arg2")
	add("test_prompt_with_embedded_resource", func(a map[string]string) []mcp.Content {
		return []mcp.Content{embedded(a["resourceUri"]), text("Please process the embedded resource above.")}
	}, "resourceUri")
	add("test_prompt_with_image", func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.ImageContent{Data: picture(), MIMEType: "image/png"}, text("Please analyze the image above.")}
	})
}
