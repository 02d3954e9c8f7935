// The first line of the TypeScript SDK, which knows the revisions up to 2025-11-25.

import { decide, require, talk, target } from './talk.mjs';

const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { ElicitRequestSchema } = require('@modelcontextprotocol/sdk/types.js');

const capabilities = target.person ? { elicitation: {} } : {};
const client = new Client({ name: 'typescript-1', version: '1' }, { capabilities });
if (target.person) client.setRequestHandler(ElicitRequestSchema, decide);
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url))
  : new StdioClientTransport({ ...target.stdio, stderr: 'inherit' });
let version;
transport.setProtocolVersion = (
  (before) => (agreed) => { version = agreed; before?.call(transport, agreed); }
)(transport.setProtocolVersion);
await client.connect(transport);
await talk(client, () => version);
