import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Budget } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { workspaceTools } from '@cobbler/tools';
import { expect, test } from 'vitest';
import { Agents, agentFace } from '../../src/agents/agents.ts';
import { builtInAgents } from '../../src/agents/definitions.ts';
import { Permission } from '../../src/permissions/permission.ts';
import { noAudit } from '../../src/session/audit.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { chatStage } from './chat-stage.ts';

/** Creates a chat whose model gives one task to a sub-agent; the model of the sub-agent responds when it is released. */
async function chatWithAgent() {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'notes.txt'), 'the needle\n');
  const released = Promise.withResolvers<void>();
  const agent = scriptedAgent([
    { calls: [{ name: 'read_file', arguments: { path: 'notes.txt' } }] },
    async () => {
      await released.promise;
      return 'The needle is in notes.txt.';
    },
  ]);
  const agents = new Agents({
    ...{ folder, env: {}, audit: noAudit, limits: {}, allowUnpriced: true, asks: true },
    definitions: builtInAgents,
    programs: [],
    hooks: [],
    system: () => [],
    model: async () => ({ agent, pricing: () => ({ input: 3, output: 15 }) }),
    permission: () => new Permission('ask', [], true),
    sandboxOf: async () => undefined,
  });
  const tools = agents.over([...workspaceTools({ root: folder, sandbox: 'off' }), agentFace]);
  const call = { agent: 'explore', task: 'Find the needle.' };
  const main = scriptedAgent([{ calls: [{ name: 'agent', arguments: call }] }, 'There it is.']);
  const stage = await chatStage({ agent: main, tools, folder });
  return { stage, released, agents };
}

test('a sub-agent is one line with what it does now, its calls and its cost, and Ctrl-O shows the whole branch', async () => {
  const { stage, released, agents } = await chatWithAgent();
  stage.type('where is it?', '\r');
  await stage.until(/agent explore: Find the needle\.: read_file notes\.txt/);
  released.resolve();
  await stage.until('There it is.');
  await stage.until(/✓ .* · \$/);
  expect(stage.text()).toMatch(/✓ agent +explore: Find the needle\. +1 call, \$0\.00\d+ /);
  expect(stage.text()).not.toContain('The needle is in notes.txt.');
  stage.type('\x0f');
  await stage.until('The needle is in notes.txt.');
  expect(stage.text()).toMatch(/agent\n {2}· read_file notes\.txt\n[\s\S]*\[explore as-1: completed\]/);
  await agents.close();
});

test('the agents of a conversation end when it is forgotten, or when many others have been used since', async () => {
  const agents = new Agents({
    ...{ folder: temporaryFolder(), env: {}, audit: noAudit, limits: {}, allowUnpriced: true, asks: true },
    ...{
      definitions: builtInAgents,
      programs: [],
      hooks: [],
      system: () => [],
      sandboxOf: async () => undefined,
    },
    model: async () => ({ agent: scriptedAgent(['Done.']), pricing: () => undefined }),
    permission: () => new Permission('ask', [], true),
  });
  const tool = agents.tool([]);
  const context = (sessionId: string) =>
    ({
      sessionId,
      budget: new Budget({}),
      signal: new AbortController().signal,
      progress: () => {},
    }) as never;
  const use = async (session: string, args: object) =>
    JSON.stringify(await tool.execute(args as never, context(session)));
  for (const session of ['used', 'unused', 'forgotten'])
    await use(session, { agent: 'explore', task: 'Look.' });
  await agents.forget('forgotten');
  expect(await use('forgotten', {})).toContain('No agent was started.');
  for (let count = 0; count < 47; count += 1) await use(`other${count}`, {});
  expect(await use('used', {})).toContain('[explore as-1: completed]');
  await use('one more', {});
  expect(await use('used', {})).toContain('[explore as-1: completed]');
  expect(await use('unused', {})).toContain('No agent was started.');
  await agents.close();
});
