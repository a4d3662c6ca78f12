import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../src/interfaces/agent.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import type { WireRequest } from '../../src/provider/wire/wire.ts';
import type { Message } from '../../src/values/message.ts';
import { userMessage } from '../../src/values/message.ts';
import { streams } from '../support/fake-server.ts';
import { textAnswer } from '../support/plain-wire.ts';
import { rig } from '../support/provider-rig.ts';

const good = streams(textAnswer('Hi'));
const look: Tool = {
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object' },
  execute: () => '',
};

const marked = {
  lifetimes: [
    { ms: 300_000, write: 1.25, mark: ',"short":1' },
    { ms: 3_600_000, write: 2, mark: ',"long":1' },
  ],
  read: 0.1,
  markBack: 1,
};
const unmarked = { lifetimes: [{ ms: 1_800_000, write: 1.25 }], read: 0.1 };

interface Asked extends Partial<ModelRequest> {
  readonly afterMs?: number;
}

/** Sends requests with a growing history; returns `keepMs` and the marks of each. */
async function asks(cache: typeof marked | typeof unmarked, ...requests: Asked[]): Promise<string[]> {
  const wire = {
    cache,
    envelope: ({ keepMs }: WireRequest) => ({ body: { keepMs: keepMs ?? null }, turns: 'm' }),
    turn: () => [{ t: 'x'.repeat(500) }],
  };
  const { ask, runtime, server } = rig(
    requests.map(() => good),
    { wire },
  );
  const messages: Message[] = [userMessage('a')];
  for (const { afterMs = 1_000, ...request } of requests) {
    await runtime.advance(afterMs);
    const { message } = await ask({ messages: [...messages], tools: [look], ...request });
    messages.push(message, userMessage('more'));
  }
  return server.exchanges.map(({ text }) => {
    const { keepMs, m } = JSON.parse(text) as { keepMs: number | null; m: object[] };
    const marks = m.map((turn) => ('short' in turn ? 's' : 'long' in turn ? 'l' : '.')).join('');
    return `${keepMs}:${marks}`;
  });
}

const minutes = { afterMs: 400_000 };
const hours = { afterMs: 7_200_000 };

describe('a service with explicit cache marks', () => {
  test('gets two marks in the turns, with the shortest lifetime while pauses are short', async () => {
    expect(await asks(marked, {}, {}, {}, {})).toEqual([
      '300000:s',
      '300000:s.s',
      '300000:..s.s',
      '300000:....s.s',
    ]);
  });

  test('gets the longer lifetime in turns and envelope after pauses that exceed the short one', async () => {
    const sent = await asks(marked, {}, {}, {}, {}, {}, {}, minutes, {}, minutes);
    expect(sent.slice(5)).toEqual([
      '300000:........s.s',
      '3600000:..........l.l',
      '3600000:............l.l',
      '3600000:..............l.l',
    ]);
  });

  test('never gets a longer lifetime in the turns than before them', async () => {
    const requests = Array.from({ length: 40 }, (_, index) => [{}, minutes, hours][(index * 7) % 3] ?? {});
    for (const sent of await asks(marked, ...requests)) {
      const [keepMs, marks = ''] = sent.split(':');
      if (marks.includes('l')) expect(keepMs).toBe('3600000');
      if (marks.includes('s')) expect(Number(keepMs)).toBeGreaterThan(0);
    }
  });

  test('gets no mark if every pause exceeds all lifetimes', async () => {
    expect((await asks(marked, {}, hours, hours)).slice(1)).toEqual(['0:...', '0:.....']);
  });

  test('gets no mark in the turns of a closing request; the next request uses the earlier mark', async () => {
    const closing = { config: { toolChoice: 'none' as const } };
    expect(await asks(marked, {}, {}, closing, {})).toEqual([
      '300000:s',
      '300000:s.s',
      '300000:.....',
      '300000:..s...s',
    ]);
  });

  test('gets no mark with `cache: false`', async () => {
    expect(await asks(marked, { config: { cache: false } }, {})).toEqual(['0:.', '300000:..s']);
  });
});

describe('a service with automatic caching', () => {
  test('gets the lifetime, even for a closing request, which reads the cache', async () => {
    const closing = { config: { toolChoice: 'none' as const } };
    expect(await asks(unmarked, {}, minutes, closing)).toEqual(['1800000:.', '1800000:...', '1800000:.....']);
  });

  test('gets the lifetime 0 if every pause exceeds it, or with `cache: false`', async () => {
    expect(await asks(unmarked, {}, hours, { config: { cache: false } })).toEqual([
      '1800000:.',
      '0:...',
      '0:.....',
    ]);
  });
});

test('a wire without cache settings gets no lifetime', async () => {
  const { ask, server } = rig([good]);
  await ask({ tools: [look] });
  expect(JSON.parse(server.at(0).text)).not.toHaveProperty('keepMs');
});
