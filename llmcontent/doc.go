// Package llmcontent puts what an MCP server offers and answers into the form that language models take: tools as
// function definitions for the model's API ([Functions]), what the model answers as arguments for the tool
// ([Function.Arguments]), and results, prompts and resources as blocks of text and images ([FromResult], [FromPrompt],
// [FromResource]). It imports no SDK: what it returns is plain data, and [json.Marshal] writes it as an API wants it.
//
//	functions, skipped := llmcontent.Functions("files", tools, llmcontent.Anthropic)
//	request.Tools = functions // as JSON
//	...
//	f := llmcontent.Find(functions, call.Name) // nil for a name that the model made up
//	args, err := f.Arguments(call.Input)
//	result, err := client.CallTool(ctx, f.Tool.Name, args)
//	for _, block := range llmcontent.FromResult(result, llmcontent.WithLimit(llmcontent.Limit{})) { ... }
//
// For many tools there are [Catalog] and its pages, from which a model picks those that it needs.
//
// The same input gives the same bytes, in the same order, so that a model's prompt cache holds. No argument is changed:
// the schemas stay as the server sent them. Except where a type says more, all of it may be called from any goroutine.
//
// # Names
//
// [ToolName] depends on the names of server and tool alone, so no order, restart or other server ever renames a tool.
// It is legal in every dialect: letters, digits, "_" and "-", a letter first, at most 64 characters. That is the least
// of what the APIs allow: OpenAI 64 [1], Anthropic 128 [3] (64 where tools are searched for), Gemini 64 or 128 [5].
//
// # What becomes of a schema
//
// In every dialect the schema is an object with properties. References within the schema are replaced by what they
// refer to; a schema that contains itself is entered twice and then cut, and so is what would become too large: what is
// left of it is its type, title and description. References elsewhere are not followed. Arrays have items, objects have
// properties. Keywords of older drafts (definitions, lists in items, dependencies, boolean bounds) and of OpenAPI
// (nullable) become those of 2020-12. Unknown keywords, and those whose value is wrong, are left out, and so are listed
// values that are there twice or not of the type; the name of a property is never taken for a keyword. Alternatives at
// the top are joined to one object, since no API takes them there; where they differ in what they require, the
// description says so.
//
// The dialects differ in this; keywords that are not named are kept:
//
//	                  Plain, OpenAI  OpenAI, strict        Anthropic            Gemini
//	names of          kept           kept                  [A-Za-z0-9_.-],      [A-Za-z0-9_], no digit
//	properties                                             at most 64           first, at most 64
//	optional          kept           required, and null    kept                 kept
//	properties                       stands for nothing
//	additional        kept           false                 kept                 left out
//	Properties
//	type: [...]       kept           kept                  kept                 anyOf, nullable
//	no type, and no   kept           not strict            kept                 text, number or boolean
//	other hint at it
//	const             kept           kept                  kept                 enum
//	enum              kept           values of the type    kept                 of strings; others are listed
//	                                                                            in the description
//	anyOf             kept           not beside            kept                 stands alone
//	                                 properties
//	oneOf             kept           not strict            kept                 anyOf
//	allOf             kept           not strict            kept                 joined
//	prefixItems       kept           not strict            kept                 items with anyOf
//	format            kept           nine of them, others  kept                 date-time, float, double,
//	                                 are not strict                             int32, int64
//	pattern           kept           RE2, without groups   kept                 kept
//	                                 of the kind (?
//	minLength, ...    kept           not strict            kept                 kept
//	minimum, ...      kept           kept                  kept                 exclusive ones inclusive
//	minItems, ...     kept           kept                  kept                 kept
//	default           kept           left out              kept                 kept with a single type
//	title             kept           left out              kept                 kept
//	object without    kept           not strict            kept                 text that is a JSON object
//	properties
//	not, if, ...      kept           not strict            kept                 left out
//	source            [1]            [2]                   [3], [4]             [5], [6]
//
// "Strict" are [OpenAIChatStrict] and [OpenAIResponsesStrict]. "Not strict" means that the one keyword makes the whole
// function a loose one, with its schema as in the column before: strict mode would tell the model less than all of what
// the tool takes. So do a cut reference, alternatives of which only some take null for a property that others may leave
// out, more than 5,000 properties, 10 levels, 1,000 listed values or 120,000 characters of names and values [2].
// Anthropic's strict mode is not used: its limits are for all tools of a request together [4], which nobody knows here.
// A tool without arguments has no parameters at all in Gemini's dialect.
//
// [Function.Arguments] takes all of it back: new names, nulls that stand for nothing, JSON text. A null for an optional
// property that takes null anyway is passed on. What is exact is exact after it; the one thing that Gemini's dialect
// cannot tell apart is, where a schema takes both, the text of a JSON object or list from the object or list itself.
// Where a reference was cut, new names have their meaning all the way down, since a model goes on with them.
//
// Title and annotations of a tool have a place of their own in [Plain] only. Elsewhere the title is the description of
// a tool that has none, and else the title of the schema if that has none.
//
//	[1] https://platform.openai.com/docs/guides/function-calling and the API's answers: schema must have type 'object'
//	    and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level; array schema missing items
//	[2] https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas"
//	[3] https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview and the API's answers: input_schema does
//	    not support oneOf, allOf, or anyOf at the top level; property keys should match '^[a-zA-Z0-9_.-]{1,64}$'; names
//	    '^[a-zA-Z0-9_-]{1,128}$'; it must match JSON Schema draft 2020-12
//	[4] https://platform.claude.com/docs/en/agents-and-tools/tool-use/strict-tool-use
//	[5] https://ai.google.dev/api/caching#FunctionDeclaration, and the comments of FunctionDeclaration in
//	    google.golang.org/genai
//	[6] https://ai.google.dev/api/caching#Schema and the APIs' answers: items: missing field; properties: should be
//	    non-empty for OBJECT type; enum: only allowed for STRING type; format: only 'enum' and 'date-time' are supported
//	    for STRING type; required: property is not defined; when using any_of, it must be the only field set
//
// # Limits
//
// A schema has at most 1 MiB and 128 levels, and 4 MiB when it is converted; a tool beyond that is set aside. What
// references add is bounded by 64 KiB, or by twice the size of the schema. Images have at most 3.75 MiB, and 15 MiB in
// one result ([WithImageLimits]). Text is as long as the server made it until a [Limit] cuts it, to 20 KiB by default.
// A page of a catalog has at most 100 entries and 64 KiB, and one descriptor 1 MiB.
//
// Descriptions are never cut, since what stands at the end may matter most. Some gateways and older models refuse one
// of more than 1,024 characters, and the whole request with it: give [Functions] copies of the tools with shorter ones.
package llmcontent
