import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, Runtime } from '@cobbler/agent';
import { memoryRunner } from '@cobbler/agent/runner';
import type { ScriptStep } from '@cobbler/agent/testing';
import { fakeRuntime, scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAssistant } from '../../src/assistant.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqlChats } from '../../src/storage/chat-store.ts';
import { sqlEvents } from '../../src/storage/event-store.ts';
import { sqlMessages } from '../../src/storage/message-store.ts';
import { sqlOutbox } from '../../src/storage/outbox.ts';
import type { Sql, SqlStatement } from '../../src/storage/sql.ts';
import { readUpdate, telegramChannel } from '../../src/telegram/index.ts';
import type { FakeFault } from '../../src/testing/index.ts';
import { fakeTelegram } from '../../src/testing/index.ts';
import { mayBeRepeat, notDelivered, notRepeatable, partMayBeRepeat } from '../../src/turn/messages.ts';

const token = '123456:contract-Token_1';
const person = 7;

/** Counts pending work of other threads, during which the clock must stand still. */
function counted(runtime: Runtime, sql: Sql) {
  let open = 0;
  const during = async <Value>(work: Promise<Value>): Promise<Value> => {
    open += 1;
    return await work.finally(() => {
      open -= 1;
    });
  };
  return {
    runtime: { ...runtime, digest: (text: string) => during(runtime.digest(text)) },
    sql: {
      run: (text: string, params?: SqlStatement['params']) => during(sql.run(text, params)),
      batch: (statements: readonly SqlStatement[]) => during(sql.batch(statements)),
    },
    /** Resolves when only a timer can cause progress. */
    async idle() {
      for (let quiet = 0; quiet < 10; quiet += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        if (open > 0) quiet = 0;
      }
    },
  };
}

/** Creates an assistant on a fake Telegram, with a clock that only the test advances. */
function bot(script: readonly ScriptStep[]) {
  const clock = fakeRuntime();
  const telegram = fakeTelegram({ token, runtime: clock });
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-replies-'));
  const file = sqliteSql({ file: join(folder, 'chats.db') });
  const { runtime, sql, idle } = counted(clock, file);
  const options = {
    agent: scriptedAgent(script, { retry: { retries: 0 } }),
    channel: telegramChannel({ token, runtime: { ...runtime, fetch: telegram.fetch } }),
    messages: sqlMessages(sql),
    chats: sqlChats(sql),
    outbox: sqlOutbox(sql, { runtime }),
    turns: sqlEvents(sql),
    runtime,
    runner: () => runner,
  };
  const assistant = createAssistant(options);
  const runner = memoryRunner({ workflow: assistant.workflow, runtime });
  onTestFinished(async () => {
    await runner.close();
    file.close();
    rmSync(folder, { recursive: true });
  });
  /** Advances the clock second by second until the run of the message ends. */
  const ask = async (text: string, replyTo?: number): Promise<Json> => {
    const update = telegram.say(person, text, replyTo);
    await assistant.receive(readUpdate(update, { allowed: new Set([String(person)]) }));
    let isOver = false;
    const result = runner.result(`telegram-${update.update_id}`).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await idle();
      if (!isOver) await clock.advance(1000);
    }
    return await result;
  };
  /** Returns the bot's messages, each with the text to which it replies. */
  const seen = () => {
    const all = telegram.messages(person);
    return all
      .filter(({ from }) => from === 'bot')
      .map(({ text, replyTo }) => [text, all.find(({ id }) => id === replyTo)?.text ?? '']);
  };
  return { telegram, ask, seen, options };
}

/** Faults after which the outcome is unknown, and whether the message arrived. */
const faults: readonly [FakeFault, boolean][] = [
  [{ type: 'gateway' }, true],
  [{ type: 'lost' }, true],
  [{ type: 'mute' }, true],
  [{ type: 'cut' }, false],
  [{ type: 'hang' }, false],
];

describe('a reply that may have been lost', () => {
  it.each(faults)('%o: is sent again with a note, as a reply to the question', async (fault, isThere) => {
    const { telegram, ask, seen, options } = bot(['Hello.']);
    telegram.fail('sendMessage', fault);
    expect(await ask('Hi.')).toEqual({ answered: true, delivered: 'sent' });
    const repeat = [`${mayBeRepeat}\n\nHello.`, 'Hi.'];
    expect(seen()).toEqual(isThere ? [['Hello.', ''], repeat] : [repeat]);
    expect(await options.outbox.list()).toMatchObject([{ state: 'sent', attempts: 2, doubts: 1 }]);
  });

  it('of several parts arrives in order, and only the uncertain part is repeated', async () => {
    const [one, two] = ['a'.repeat(3500), 'b'.repeat(3500)];
    const { telegram, ask, seen } = bot([`${one}\n\n${two}`]);
    telegram.fail('sendMessage', { type: 'lost' });
    expect(await ask('Hi.')).toEqual({ answered: true, delivered: 'sent' });
    expect(seen().map(([text]) => text)).toEqual([one, `${partMayBeRepeat(1, 2)}\n\n${one}`, two]);
  });

  it('is repeated three times without a response, and then reported to the user', async () => {
    const { telegram, ask, seen, options } = bot(['Hello.']);
    telegram.fail('sendMessage', { type: 'cut' }, 4);
    expect(await ask('Hi.')).toEqual({ answered: true, delivered: 'maybe_sent' });
    expect(seen()).toEqual([[notDelivered, 'Hi.']]);
    expect(await options.outbox.list({ state: 'maybe_sent' })).toMatchObject([{ attempts: 4, doubts: 4 }]);
  });

  it('is reported to the user when Telegram is available again after a long outage', async () => {
    const { telegram, ask, seen } = bot(['Hello.', 'Here I am.']);
    telegram.fail('sendMessage', { type: 'unavailable' }, 21 + 4);
    expect(await ask('Hi.')).toEqual({ answered: true, delivered: 'given_up' });
    expect(seen()).toEqual([]);
    await ask('Are you there?');
    expect(seen()).toEqual([
      [notDelivered, 'Hi.'],
      ['Here I am.', ''],
    ]);
  });

  it('is sent again without a note if the first attempt certainly failed', async () => {
    const { telegram, ask, seen } = bot(['Hello.']);
    telegram.fail('sendMessage', { type: 'unavailable' }, 3);
    expect(await ask('Hi.')).toEqual({ answered: true, delivered: 'sent' });
    expect(seen()).toEqual([['Hello.', '']]);
  });

  it('is sent again with a note if it is the file of /export', async () => {
    const { telegram, ask, seen } = bot(['Hello.']);
    await ask('Hi.');
    telegram.fail('sendDocument', { type: 'lost' });
    await ask('/export');
    expect(seen().slice(1)).toEqual([
      ['', ''],
      [mayBeRepeat, '/export'],
    ]);
  });
});

describe('/again', () => {
  it('repeats the latest answer as a reply to its question', async () => {
    const { ask, seen } = bot(['One.', 'Two.']);
    await ask('First?');
    await ask('Second?');
    await ask('/again');
    expect(seen().at(-1)).toEqual(['Two.', 'Second?']);
  });

  it('repeats an answer that could not be delivered, even though it is not saved yet', async () => {
    const { telegram, ask, seen } = bot(['One.', 'Two.']);
    await ask('First?');
    telegram.fail('sendMessage', { type: 'unavailable' }, 21);
    expect(await ask('Second?')).toEqual({ answered: true, delivered: 'given_up' });
    await ask('/again');
    expect(seen()).toEqual([
      ['One.', ''],
      [notDelivered, 'Second?'],
      ['Two.', 'Second?'],
    ]);
  });

  it('as a reply to a question or to its answer repeats that answer', async () => {
    const { telegram, ask, seen } = bot(['One.', 'Two.']);
    await ask('First?');
    await ask('Second?');
    const idOf = (words: string) => telegram.messages(person).find(({ text }) => text === words)?.id;
    await ask('/again', idOf('First?'));
    await ask('/again', idOf('One.'));
    const repeated = telegram.messages(person).at(-1)?.id;
    await ask('/again', repeated);
    await ask('/again');
    expect(seen().slice(2)).toEqual([
      ...Array.from({ length: 3 }, () => ['One.', 'First?']),
      ['Two.', 'Second?'],
    ]);
  });

  it('as a reply to a message without an answer repeats no other answer', async () => {
    const { telegram, ask, seen } = bot(['One.', { error: { kind: 'agent', message: 'broken' } }]);
    await ask('First?');
    await ask('Second?');
    await ask('/again', telegram.messages(person).find(({ text }) => text === 'Second?')?.id);
    expect(seen().at(-1)).toEqual([notRepeatable, '']);
  });
});
