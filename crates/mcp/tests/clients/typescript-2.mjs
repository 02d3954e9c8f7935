// The second line of the TypeScript SDK, which knows all revisions.

import { decide, require, talk, target } from './talk.mjs';

const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

const client = new Client(
  { name: 'typescript-2', version: '1' },
  { capabilities: target.person ? { elicitation: {} } : {}, versionNegotiation: { mode: target.mode } },
);
if (target.person) client.setRequestHandler('elicitation/create', decide);
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url))
  : new StdioClientTransport({ ...target.stdio, stderr: 'inherit' });
await client.connect(transport);
await talk(client, () => client.getNegotiatedProtocolVersion());
