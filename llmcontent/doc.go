// Package llmcontent puts what an MCP server offers and answers into the form that language models take: tools as
// function definitions with legal names ([FunctionOf]), and results as blocks of text and images ([FromResult]). It
// knows no model's API: what it returns is plain data to copy into the request of whatever SDK is in use.
//
//	for _, tool := range tools {
//		request.Functions = append(request.Functions, llmcontent.FunctionOf("files", tool))
//	}
//	...
//	for _, block := range llmcontent.FromResult(result) { ... }
//
// Everything here is a pure function: the same input gives the same bytes, so that a model's prompt cache holds, and no
// argument is changed. All of it may be called from any goroutine.
//
// # Limits
//
// A name has at most 64 characters. Text and images have no limit here, and are as large as the server made them.
// Images keep the type that the server gave them; whether a model takes it is not checked.
package llmcontent
