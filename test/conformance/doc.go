// Package conformance runs the conformance suite of the Model Context Protocol
// (@modelcontextprotocol/conformance, pinned in install.sh) against these servers:
//
//   - a server with the suite's fixtures, which has the place of people's tools:
//     /mcp of the HTTP server, with Coppice's own handler (tools.Handler). It passes
//     the whole suite;
//   - the endpoints of Coppice: the one of a session, through its host and
//     worker, and /mcp. product.yml lists the scenarios that need what Coppice does
//     not have, each with its reason. The suite fails if one of them passes.
//
// A proxy adds the token.
package conformance
