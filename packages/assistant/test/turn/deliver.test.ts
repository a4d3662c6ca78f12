import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentError } from '@cobbler/agent';
import type { FakeRuntime } from '@cobbler/agent/testing';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, it } from 'vitest';
import { memoryChannel } from '../../src/channel/memory-channel.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqlOutbox } from '../../src/storage/outbox.ts';
import type { AssistantDependencies } from '../../src/turn/dependencies.ts';
import { notDelivered, stillWorking } from '../../src/turn/messages.ts';
import { showTyping } from '../../src/turn/turn.ts';
import { stage } from '../support/stage.ts';

describe('the delivery of a reply', () => {
  it('is retried after the pause that the channel requests', async () => {
    const { ask, texts, channel } = stage(['Hello.']);
    const error = { kind: 'rate_limit', retryable: true, retryAfterMs: 5, message: 'slow down' } as const;
    channel.failNext({ error: new AgentError(error) });
    expect(await ask('Hi.')).toEqual({ answered: true, delivered: 'sent' });
    expect(texts()).toEqual(['Hello.']);
    expect(channel.attempts).toBe(2);
  });

  it('is given up if the user has blocked the assistant, and the next reply is tried', async () => {
    const { ask, texts, channel, options, reports } = stage(['Hello.', 'Back again.']);
    const gone = new AgentError({ kind: 'invalid', code: 'chat_gone', message: 'blocked by the user' });
    // The reply, and the notice that it could not be delivered.
    for (let call = 0; call < 2; call += 1) channel.failNext({ error: gone });
    expect(await ask('Hi.')).toEqual({ answered: true, delivered: 'given_up' });
    expect(channel.attempts).toBe(2);
    expect(await options.outbox.list({ state: 'given_up' })).toMatchObject([
      { error: { code: 'chat_gone' } },
    ]);
    expect(reports.join()).toContain('blocked');
    await ask('Hi.');
    expect(texts()).toEqual([notDelivered, 'Back again.']);
  });
});

describe('during a slow response', () => {
  function company(run: (kit: AssistantDependencies, runtime: FakeRuntime) => Promise<void>) {
    const runtime = fakeRuntime();
    const folder = mkdtempSync(join(tmpdir(), 'cobbler-company-'));
    const sql = sqliteSql({ file: join(folder, 'chats.db') });
    const channel = memoryChannel();
    // The code under test uses only these dependencies.
    const kit = { channel, runtime, outbox: sqlOutbox(sql, { runtime }) } as unknown as AssistantDependencies;
    return run(kit, runtime).finally(() => {
      sql.close();
      rmSync(folder, { recursive: true });
    });
  }
  const steps = { runId: 'memory-1' } as Parameters<typeof showTyping>[1];

  it('the user repeatedly sees a typing indicator, and once a message', async () => {
    await company(async (kit, runtime) => {
      const channel = kit.channel as ReturnType<typeof memoryChannel>;
      const end = showTyping(kit, steps, '7');
      await runtime.advance(40_000);
      expect(channel.typed).toBe(9);
      expect(channel.messages).toEqual([]);
      await runtime.advance(120_000);
      await settled();
      expect(channel.messages.map(({ text }) => text)).toEqual([stillWorking]);
      end();
      expect(runtime.timers).toBe(0);
      // Another process continues the turn: the message is not sent again.
      const again = showTyping(kit, steps, '7');
      await runtime.advance(60_000);
      await settled();
      again();
      expect(channel.messages).toHaveLength(1);
    });
  });

  it('errors of the channel are ignored', async () => {
    await company(async (kit, runtime) => {
      const broken: AssistantDependencies = {
        ...kit,
        channel: {
          ...kit.channel,
          typing: () => Promise.reject(new Error('no')),
          send: () => Promise.reject(new AgentError({ kind: 'network', message: 'no' })),
        },
      };
      const end = showTyping(broken, steps, '7');
      await runtime.advance(60_000);
      await settled();
      end();
      expect(runtime.timers).toBe(0);
    });
  });
});

/** Waits for pending work that does not depend on the clock. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
