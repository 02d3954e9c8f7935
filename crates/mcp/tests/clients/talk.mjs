// What all clients for Node have in common: a wish in each line of standard input, what came of it in each line of
// standard output. The tests wish and judge; the client only carries.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

// The packages lie where the client is started, not where this file is.
export const require = createRequire(`${process.cwd()}/`);

// Where the server is, which revisions to speak, and whether somebody sits at this client.
export const target = JSON.parse(process.argv[2]);

let decision = { action: 'decline' };

// What the person at this client says to any question.
export const decide = async () => decision;

export async function talk(client, version) {
  const wishes = {
    version: async () => version(),
    tools: () => client.listTools(),
    call: ({ name, arguments: given }) => client.callTool({ name, arguments: given }),
    prompts: () => client.listPrompts(),
    prompt: ({ name, arguments: given }) => client.getPrompt({ name, arguments: given }),
    resources: () => client.listResources(),
    read: ({ uri }) => client.readResource({ uri }),
    decide: async ({ answer }) => { decision = answer; },
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const { wish, ...rest } = JSON.parse(line);
    const answer = await wishes[wish](rest).then(
      (good) => ({ good: good ?? null }),
      (error) => ({ bad: { code: error.code ?? null, message: String(error.message) } }),
    );
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await client.close();
}
