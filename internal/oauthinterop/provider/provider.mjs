// The authorization server of the tests: oidc-provider, with its own pages for signing in, where any name is good.
// The one argument is its configuration as JSON. It prints its issuer once it listens on a free port of loopback, then
// answers each line of stdin with a line of JSON, and ends when stdin does.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { Provider } from 'oidc-provider';

// resource and scopes are those of the MCP server, lifetime is that of its tokens, in seconds. For so many seconds of
// grace a refresh token that was used is good once more. With nonces, DPoP takes a nonce.
const { resource, scopes, lifetime, grace, nonces, clients } = JSON.parse(process.argv[2]);

const seen = {
	grants: {}, // that went well, by type
	refreshes: [], // when each refresh token was used, in milliseconds
	refused: {}, // by what was said of it
	revoked: 0,
	reused: [], // those that were used again within the grace: by whom, and when that was
};
const secrets = new Set();
const grants = new Set();

// who is the process that asks; the header is one of the tests.
const who = () => Provider.ctx?.get('x-process') ?? '';

// An Adapter keeps what the provider knows. It forgets nothing, so that what is missing is lost for good.
class Adapter {
	static records = new Map();
	constructor(model) { this.model = model; }
	key(id) { return `${this.model} ${id}`; }

	async find(id) {
		const record = Adapter.records.get(this.key(id));
		const spent = record?.usedAt !== undefined && Date.now() - record.usedAt >= grace * 1000;
		return record && { ...record.payload, ...(spent && { consumed: Math.floor(record.usedAt / 1000) }) };
	}

	async findByUid(uid) {
		for (const { model, payload } of Adapter.records.values()) {
			if (model === this.model && payload.uid === uid) return payload;
		}
	}

	async upsert(id, payload) {
		Adapter.records.set(this.key(id), { model: this.model, payload });
		if (this.model === 'Grant') grants.add(id);
		if (this.model === 'Client' && payload.client_secret) secrets.add(payload.client_secret);
		if (/Token|Code|Credentials/.test(this.model)) secrets.add(id);
	}

	async consume(id) {
		const record = Adapter.records.get(this.key(id));
		if (this.model === 'RefreshToken') {
			seen.refreshes.push(Date.now());
			if (record.usedAt !== undefined) seen.reused.push({ by: [record.usedBy, who()], at: Date.now() });
		}
		record.usedAt ??= Date.now();
		record.usedBy ??= who();
	}

	async destroy(id) { Adapter.records.delete(this.key(id)); }

	async revokeByGrantId(id) {
		for (const [key, { payload }] of Adapter.records) {
			if (payload.grantId === id) Adapter.records.delete(key);
		}
	}
}

const resourceServer = { client_id: 'resource-server', client_secret: randomBytes(16).toString('hex'),
	grant_types: [], response_types: [], redirect_uris: [] };

const server = createServer({ keepAliveTimeout: 600_000 }); // a connection that is closed is a request that failed
await once(server.listen(0, '127.0.0.1'), 'listening');
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
	adapter: Adapter,
	clients: [resourceServer, ...clients],
	cookies: { keys: [randomBytes(16).toString('hex')] },
	findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
	rotateRefreshToken: true,
	scopes: ['openid', 'offline_access', ...scopes],
	ttl: { AccessToken: lifetime, ClientCredentials: lifetime, AuthorizationCode: 60, Grant: 3600, IdToken: 60,
		Interaction: 600, RefreshToken: 3600, Session: 3600 },
	features: {
		clientCredentials: { enabled: true },
		devInteractions: { enabled: true },
		dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => nonces },
		introspection: { enabled: true, allowedPolicy: (_, client) => client.clientId === resourceServer.client_id },
		registration: { enabled: true },
		revocation: { enabled: true, allowedPolicy: (_, client, token) => client.clientId === token.clientId },
		resourceIndicators: {
			enabled: true,
			getResourceServerInfo(_, indicator) {
				if (indicator !== resource) throw new Error('another resource');
				return { scope: scopes.join(' '), audience: resource, accessTokenTTL: lifetime,
					accessTokenFormat: 'opaque' };
			},
		},
	},
});
provider.on('grant.success', ctx => {
	const type = ctx.oidc.params.grant_type;
	seen.grants[type] = (seen.grants[type] ?? 0) + 1;
});
provider.on('grant.error', (_, error) => {
	const said = error.error_detail ?? error.message;
	seen.refused[said] = (seen.refused[said] ?? 0) + 1;
});
provider.on('grant.revoked', () => seen.revoked++);
provider.on('server_error', (_, error) => console.error(error));
server.on('request', provider.callback());

const answers = {
	seen: () => seen,
	secrets: () => [...secrets],
	async revoke() { // as the user does on some page of their account
		for (const id of grants) {
			await new Adapter('Grant').destroy(id);
			await new Adapter('').revokeByGrantId(id);
		}
	},
};
const say = value => process.stdout.write(`${JSON.stringify(value ?? null)}\n`);
say({ issuer, secret: resourceServer.client_secret });
for await (const line of createInterface({ input: process.stdin })) say(await answers[line]());
server.closeAllConnections();
server.close();
