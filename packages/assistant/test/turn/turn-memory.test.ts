import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { describe, expect, it, onTestFinished } from 'vitest';
import { httpEmbedder } from '../../src/memory/http-embedder.ts';
import { sqliteMemory } from '../../src/sqlite/sqlite-memory.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { stage } from '../support/stage.ts';

const rule = { remember: { threshold: { messages: 2 }, keep: 1 } };

describe('the memory of a chat', () => {
  it('summarizes older messages and adds the matching memory to the next prompt [S3.12, S3.13]', async () => {
    const script = ['Nice.', 'Rex is well then.', 'The dog of the user is called Rex.', 'His name is Rex.'];
    const { ask, say, runner, agent, options } = stage(script, rule);
    // Waits for the memories of each turn before the next message, because a turn does not.
    for (const text of ['My dog is called Rex.', 'He is well.']) {
      const turn = await say(text);
      await runner.result(turn);
      await runner.result(`${turn}-remember`);
    }
    expect(await options.memory?.list('7')).toMatchObject([{ text: 'The dog of the user is called Rex.' }]);
    await ask('/new');
    await ask('What is my dog called?');
    const system = agent.requests.at(-1)?.system ?? [];
    expect(system).toHaveLength(4);
    expect(system[2]).toContain('- The dog of the user is called Rex.');
    // Changing parts come last, so that the provider can cache the beginning.
    expect(system.slice(0, 2)).toEqual(agent.requests[0]?.system?.slice(0, 2));
  });

  it('records what its summaries and its embeddings cost [P14]', async () => {
    const runtime: Runtime = {
      ...systemRuntime,
      fetch: async (_, init) => {
        const { input } = JSON.parse(String(init?.body)) as { input: string[] };
        const data = input.map((_text, index) => ({ index, embedding: [1, index] }));
        return Response.json({ data, usage: { prompt_tokens: 10 * input.length } });
      },
    };
    const embedder = httpEmbedder({ baseURL: 'http://e.test', model: 'e', dimensions: 2, floor: 0, runtime });
    const folder = mkdtempSync(join(tmpdir(), 'cobbler-costs-'));
    const sql = sqliteSql({ file: join(folder, 'memory.db') });
    onTestFinished(() => rmSync(folder, { recursive: true }));
    onTestFinished(() => sql.close());
    const pricing = () => ({ input: 5, output: 25 });
    const memory = sqliteMemory({ sql, embedder });
    const script = ['Nice.', 'Well.', 'The dog is called Rex.'];
    const { say, runner, options } = stage(script, { ...rule, memory, pricing });
    for (const text of ['My dog is called Rex.', 'He is well.']) {
      const turn = await say(text);
      await runner.result(turn);
      await runner.result(`${turn}-remember`);
    }
    const logs = await Promise.all(
      (await options.turns.sessions()).map((id) => Promise.resolve(options.turns.read(id))),
    );
    const costs = logs.flat().flatMap((event): unknown[][] => {
      if (event.type === 'assistant') return [['model', event.user, event.usd !== undefined]];
      return event.type === 'spent' ? [[event.who, event.spent.usage.inputTokens, event.spent.usd]] : [];
    });
    expect(costs).toEqual(
      expect.arrayContaining([
        ['model', '7', true],
        ['embedding', 10, 0.00005],
        ['memory', expect.any(Number), expect.any(Number)],
      ]),
    );
  });

  it('does not prevent replies if it fails [S3.13]', async () => {
    const broken = {
      add: () => Promise.reject(new AgentError({ kind: 'network', message: 'no index' })),
      search: () => Promise.reject(new AgentError({ kind: 'network', message: 'no index' })),
      list: async () => [],
      forget: async () => 0,
    };
    const { ask, say, runner, texts, reports } = stage(['One.', 'Two.', 'facts'], {
      ...rule,
      memory: broken,
    });
    const first = await say('First.');
    await runner.result(first);
    // Otherwise the summary of the first turn would include the second message and use its
    // response.
    await runner.result(`${first}-remember`);
    await ask('Second.');
    expect(texts()).toEqual(['One.', 'Two.']);
    await expect.poll(() => reports.join()).toContain('no index');
  });

  it('is shown by /memory and deleted by /forget', async () => {
    const { ask, tap, texts, options } = stage([], {});
    await options.memory?.add([
      { id: 'm1', chatId: '7', text: 'Likes tea.', createdAt: '2026-11-22T09:00:00.000Z' },
    ]);
    await options.memory?.add([
      { id: 'm1', chatId: '8', text: 'Likes coffee.', createdAt: '2026-11-22T09:00:00.000Z' },
    ]);
    await ask('/memory');
    expect(texts()[0]).toContain('Likes tea.');
    expect(texts()[0]).not.toContain('coffee');
    await ask('/forget');
    await tap('forget:yes');
    expect(await options.memory?.list('7')).toEqual([]);
    expect(await options.memory?.list('8')).toHaveLength(1);
  });
});
