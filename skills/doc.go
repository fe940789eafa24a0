// Package skills finds and loads Agent Skills that MCP servers serve: the extension io.modelcontextprotocol/skills
// (SEP-2640). A skill is a directory with a SKILL.md, that is instructions for a model, and the files that those refer
// to. [List] tells what a server has, by metadata alone; [Skill.Load] reads a SKILL.md, and [Loaded.Read] the other
// files, one by one when they are needed.
//
//	for skill, err := range skills.List(ctx, client) { ... } // offer skill.Name and skill.Description to the model
//	loaded, err := skill.Load(ctx)                           // when it is to be used
//	form, err := loaded.Read(ctx, "references/FORMS.md")     // when the instructions ask for it
//
// Everything that is read is checked before it is handed out: its size and digest against the entry that the skill was
// listed with, and the frontmatter of SKILL.md, field by field, against the frontmatter of the entry. What does not fit
// is a [*VerifyError], and nothing of it is returned.
//
// # What is left to the host
//
// Entry and files come from the same server: that they fit says that nothing got lost or replaced in between, not that
// either is to be trusted. Skills are untrusted input for a model. The host tells users and model which server a skill
// comes from, keeps skills of different servers apart by its own names for them, asks before it runs anything for a
// skill, and gives no permission because of allowed-tools or any other field. An approval that is kept is bound to
// [Skill.Fingerprint]. Names are labels: two skills of a server may share one.
//
// # Limits
//
// A skill has at most 512 files and 16 MiB (the limits of the extension), its frontmatter at most 64 KiB and 32 levels,
// and a list at most 1,000 pages. A file comes in one message, whose limit is the transport's: 16 MiB by default, of
// which a binary file of 12 MiB fills all. Nothing is kept: to read a file twice asks the server twice, unless the
// client has a cache.
//
// # Access
//
// Files are read from the server that listed the skill, with resources/read, and from nowhere else: no file is opened
// and no address resolved, whatever a URI says. Only files of the entry can be read. [File].Path holds no ".." and no
// absolute path; to write files to disk, use [os.Root] all the same.
//
// # Concurrency
//
// A [Skill] and a [Loaded] may be used from any goroutine; their fields are not to be changed.
//
// # Deviations from the specification
//
//   - Skills whose resources are "dynamic" cannot be verified. They are listed, and not loaded ([ErrDynamic]).
//   - resources/directory/read is not used: an entry lists all files.
//   - The rules for names and descriptions of the Agent Skills specification are not enforced, except that neither is
//     empty, and that the name is the name of the directory.
//   - A plain YAML scalar agrees with the JSON value that YAML 1.1 or YAML 1.2 makes of it, and with the string of its
//     own text: libraries differ in what they make of version: 1.0.
//   - Frontmatter with anchors, aliases, tags, merge keys or complex keys is refused.
//   - The list of a server that does not declare the extension is empty, without a request.
package skills
