// A server on the TypeScript SDK, version 2, which comes without an example that npm could install:
//
//	node typescript.mjs [legacy | modern | dual [PORT]]
//
// With a port it serves HTTP there, at /mcp, and else its standard input. servers/golang has the same tools.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import {
	acceptedContent, createMcpHandler, fromJsonSchema, inputRequired, isLegacyRequest, McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const [era = 'dual', port] = process.argv.slice(2);

const text = (text, isError) => ({ content: [{ type: 'text', text }], isError });
const object = (properties) => fromJsonSchema({ type: 'object', properties, required: Object.keys(properties) });

// These outlive the instance that answers the probe, which may be thrown away.
let aborted = 0; // calls of "wait" that were cancelled
let added = 0; // tools that "add-tool" has added

let regionHeader = 'Region';
let everybody; // who is told of changes, where an instance lives no longer than a request

function server({ era, requestInfo }) {
	const publish = era === 'modern' ? everybody : undefined;
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

	server.registerTool('fail', {}, () => text('it cannot be done', true));

	const sized = object({ size: { type: 'integer' } });
	server.registerTool('large', { inputSchema: sized }, ({ size }) => text('x'.repeat(size)));

	// Has two parameters that are repeated in headers, and says what these were. "rename-header" renames one of them.
	const route = object({
		region: { type: 'string', 'x-mcp-header': regionHeader },
		target: { type: 'object', properties: { id: { type: 'integer', 'x-mcp-header': 'Target-Id' } } },
	});
	server.registerTool('route', { inputSchema: route }, () => {
		const repeated = [...requestInfo?.headers ?? []].filter(([name]) => name.startsWith('mcp-param-'));
		return text(repeated.map(([name, value]) => `${name}: ${value}`).join('\n'));
	});
	server.registerTool('rename-header', {}, () => {
		regionHeader = 'Area';
		return text('renamed');
	});

	const addTool = (n) => server.registerTool(`added-${n}`, {}, () => text('here'));
	for (let n = 1; n <= added; n++) addTool(n);
	server.registerTool('add-tool', {}, () => {
		added++;
		if (publish) publish.toolsChanged();
		else addTool(added);
		return text('added');
	});

	server.registerResource('note', 'test://note', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'a note' }] }));

	// The SDK leaves these to the server, which tells everybody; 2026-07-28 has them no more.
	if (era === 'legacy') {
		server.server.setRequestHandler('resources/subscribe', () => ({}));
		server.server.setRequestHandler('resources/unsubscribe', () => ({}));
	}

	server.registerTool('touch-note', {}, async () => {
		if (publish) publish.resourceUpdated('test://note');
		else await server.server.sendResourceUpdated({ uri: 'test://note' });
		return text('touched');
	});

	return server;
}

const onerror = (error) => console.error(error.message);
const sessions = new Map(); // transports of the legacy era, by id

async function serveLegacy(req, res, body) {
	let transport = sessions.get(req.headers['mcp-session-id']);
	if (!transport) {
		transport = new NodeStreamableHTTPServerTransport({
			sessionIdGenerator: randomUUID,
			onsessioninitialized: (id) => { sessions.set(id, transport); },
			onsessionclosed: (id) => { sessions.delete(id); },
		});
		await server({ era: 'legacy' }).connect(transport);
	}
	await transport.handleRequest(req, res, body);
}

function serveHTTP(port) {
	const modern = createMcpHandler(server, { legacy: 'reject', onerror });
	const serveModern = toNodeHandler(modern);
	everybody = modern.notify;
	createServer(async (req, res) => {
		const body = req.method === 'POST' ? await json(req) : undefined;
		const isLegacy = era === 'dual' ? await isLegacyRequest(await toWebRequest(req, body)) : era === 'legacy';
		await (isLegacy ? serveLegacy : serveModern)(req, res, body);
	}).listen(port, '127.0.0.1');
}

if (port) serveHTTP(Number(port));
else if (era === 'legacy') await server({ era }).connect(new StdioServerTransport());
else serveStdio(server, { legacy: era === 'modern' ? 'reject' : 'serve', onerror });
