// Package conformance runs the conformance suite of the Model Context Protocol
// (@modelcontextprotocol/conformance, pinned in install.sh) against three servers:
//
//   - a server with the suite's fixtures, on the SDK that Coppice uses. It is
//     stateful, because the suite also tests requests from the server to the
//     client, and it passes the whole suite;
//   - the same server on Coppice's own handler (tools.Handler), which is
//     stateless;
//   - the endpoints of Coppice: the one of a session, through its host and
//     worker, and /mcp. A proxy adds the token.
//
// The scenarios that the last two fail are in *.yml, each with its reason. The
// suite fails if one of them passes.
package conformance
