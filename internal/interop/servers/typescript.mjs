// A server on the TypeScript SDK, version 2, which comes without an example that npm could install. It serves both
// eras; with the argument "modern" it refuses the handshake of the legacy one.
import { fromJsonSchema, inputRequired, acceptedContent, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const text = (text) => ({ content: [{ type: 'text', text }] });
const object = (properties) => fromJsonSchema({ type: 'object', properties, required: Object.keys(properties) });

// These outlive the instance that answers the probe, which may be thrown away.
let aborted = 0; // calls of "wait" that were cancelled
let added = 0; // tools that "add-tool" has added

function server({ era }) {
	const server = new McpServer(
		{ name: 'interop-typescript', version: '1.0.0' },
		{
			capabilities: {
				logging: {},
				resources: { subscribe: true, listChanged: true },
				tools: { listChanged: true },
			},
			instructions: 'For tests only.',
		},
	);

	server.registerTool('echo', { inputSchema: object({ message: { type: 'string' } }) }, ({ message }) => text(message));

	server.registerTool('count', { inputSchema: object({ to: { type: 'integer' } }) }, async ({ to }, { mcpReq }) => {
		const { progressToken } = mcpReq._meta ?? {};
		for (let progress = 1; progress <= to && progressToken !== undefined; progress++) {
			await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: to } });
		}
		return text(`counted to ${to}`);
	});

	// Asks twice: for a form and for the roots at once, and then for another form. What it learned first is in its state.
	server.registerTool('register', {}, ({ mcpReq }) => {
		const form = (message, name) => inputRequired.elicit({
			message,
			requestedSchema: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] },
		});
		const known = mcpReq.requestState();
		const second = acceptedContent(mcpReq.inputResponses, 'second');
		if (second) return text(`${known}, ${second.city}`);
		const first = acceptedContent(mcpReq.inputResponses, 'first');
		if (!first) {
			return inputRequired({ inputRequests: { first: form('Who?', 'name'), roots: inputRequired.listRoots() } });
		}
		const [root] = mcpReq.inputResponses.roots.roots;
		return inputRequired({
			inputRequests: { second: form('Where?', 'city') },
			requestState: `${first.name}, ${root.uri}`,
		});
	});

	server.registerTool('summarise', {}, ({ mcpReq }) => {
		const answer = mcpReq.inputResponses?.model;
		if (answer) return text(`${answer.model} says ${answer.content.text}`);
		return inputRequired({ inputRequests: { model: inputRequired.createMessage({
			messages: [{ role: 'user', content: { type: 'text', text: 'Sum it up.' } }],
			maxTokens: 17,
		}) } });
	});

	server.registerTool('log', {}, async ({ mcpReq }) => {
		await mcpReq.log('info', 'something happened');
		return text('logged');
	});

	server.registerTool('wait', {}, async ({ mcpReq }) => {
		const { progressToken } = mcpReq._meta ?? {};
		await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 0 } });
		await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
		aborted++;
		return text('aborted');
	});

	server.registerTool('aborted', {}, () => text(`${aborted}`));

	server.registerTool('add-tool', {}, () => {
		server.registerTool(`added-${++added}`, {}, () => text('here'));
		return text('added');
	});

	server.registerResource('note', 'test://note', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'a note' }] }));

	// The SDK leaves these to the server, which tells everybody; 2026-07-28 has them no more.
	if (era === 'legacy') {
		server.server.setRequestHandler('resources/subscribe', () => ({}));
		server.server.setRequestHandler('resources/unsubscribe', () => ({}));
	}

	server.registerTool('touch-note', {}, async () => {
		await server.server.sendResourceUpdated({ uri: 'test://note' });
		return text('touched');
	});

	return server;
}

serveStdio(server, {
	legacy: process.argv[2] === 'modern' ? 'reject' : 'serve',
	onerror: (error) => console.error(error.message),
});
