// Package config reads the files in which users write down their MCP servers: mcpServers, as in Claude Desktop, Claude
// Code, Cursor, Windsurf and Cline, and servers with inputs, as in VS Code. It starts and asks nothing: what it returns
// is plain data for the transports, package oauth and the application.
//
//	file, err := config.ParseFile("mcp.json", nil)  // err: the bad entries
//	servers, err := file.Expand(os.LookupEnv)       // those that are to be started
//	for _, s := range servers {
//		t := &stdio.Transport{Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Cwd} // if s.Type is Stdio
//		client, err := mcp.Connect(ctx, t, nil)
//		...
//
// A bad entry is an [*Error] with its place, its field and a reason, and costs no other entry anything.
//
// # Files
//
// JSON in UTF-8, with comments (// and /* */) and trailing commas. An object mcpServers or servers, or both, has the
// entries by their names: printable text without white space around it. inputs is an array (see [Input]). All other
// fields, of the file and of entries, are kept as they are in Extra. A null is a field that is not there, except in
// Extra.
//
//	type         stdio, http (also streamable-http, streamableHttp) or sse; without it, what command or url say.
//	             Also: transport, transportType.
//	command      the program, with args (array), env (object) and cwd, for stdio.
//	url          the endpoint, with headers (object) and oauth (object, see [OAuth]), for http and sse.
//	             Also: serverUrl, httpUrl.
//	enabled      a boolean. Also, the other way round: disabled.
//	description  a text.
//	timeout      seconds (see Options.TimeoutUnit), an hour at most.
//
// schema.json is a JSON Schema of these files for editors, and what [Schema] returns.
//
// What contradicts itself is an error that names both places: a command and a url, two spellings of a field with
// different values, a key or a name that is there twice (then none of these entries is taken; of two lists of servers,
// the first one is read), headers for a command.
//
// # References
//
// ${NAME}, ${env:NAME} and ${NAME:-default} are replaced by [Server.Expand] in command, args, env, cwd, url, headers
// and oauth, with what a [Lookup] says; ${input:id} and whatever else has a prefix are asked for with the prefix. The
// default is for what is not set or empty; it ends at the first }, and cannot hold a reference. What is put in is never
// looked at again. What is missing is an error with all names. $${ is a ${ that starts no reference.
//
// A ~ at the start of command, cwd or an argument is the home directory. A relative cwd, and a command with a slash (on
// Windows also a backslash), are relative to the folder of the file; a command without one is looked up in PATH by the
// stdio transport, which on Windows also finds npx.cmd.
//
// # Trust
//
// An entry runs a program, or sends what it is given to a URL. [Merge] lays a file that is trusted less, such as that
// of a project, over one that is trusted more. It changes what the [Policy] lists and nothing else. Expand servers of
// such a file with a Lookup that knows only what the file may know: a header of "${AWS_SECRET_ACCESS_KEY}" is sent
// where the file says.
//
// Nothing that formats a [Server], [OAuth], [Input] or [File] (fmt, log/slog, encoding/json) shows what it holds. What
// cannot call their methods does: whatever reads fields by reflection, and package fmt for a Server in an unexported
// field of another struct (keep a *Server there, of which %v shows the address). No error has a value from a file or of
// a Lookup: they have names, places and reasons.
//
// # Limits and concurrency
//
// A file has at most [MaxBytes], and so has what is put in for the references of one. Time and memory are proportional
// to it. All functions may be called concurrently; what they return may be read concurrently, if nobody changes it.
//
// # Deviations from what other applications accept
//
//   - timeout is in seconds, as in Cline. Gemini CLI and others write milliseconds: Options.TimeoutUnit. A timeout
//     of more than an hour is refused, since it is one in another unit.
//   - $NAME and %NAME% mean nothing. A reference to what is not set is an error, where Claude Code leaves it as it is.
//   - ${workspaceFolder}, ${userHome} and the other variables of VS Code and Cursor are asked of the Lookup, as names.
//   - envFile (VS Code, Cursor), headersHelper (Claude Code) and auth (Cursor) are not acted on. They are in Extra, and
//     so are the fields that allow, hide and approve tools.
//   - A null in env sets no variable; in VS Code it removes one. The servers of package stdio inherit few.
//   - White space around a url is an error; browsers, and what is built on them, leave it out.
//   - A number and a boolean are taken as texts in args, env and headers.
//   - httpUrl is url; in Gemini CLI, url means sse.
//   - The settings.json of VS Code (mcp.servers), context_servers of Zed, the lists of Continue, commands that are
//     arrays (OpenCode), TOML (Codex) and YAML are not read.
//   - callbackUrl is a loopback URL. clientRegistration dcr with a clientId is an error.
package config
