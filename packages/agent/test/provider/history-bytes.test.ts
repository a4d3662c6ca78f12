import { describe, expect, test } from 'vitest';
import type { TurnBytes } from '../../src/provider/request/conversation-bytes.ts';
import { HistoryBytes } from '../../src/provider/request/history-bytes.ts';
import { normalizeHistory } from '../../src/provider/request/normalize-history.ts';
import type { Turn } from '../../src/provider/wire/wire.ts';
import { seededRandom } from '../../src/testing/service/seeded-random.ts';
import type { AssistantMessage, Message, ToolResultMessage } from '../../src/values/message.ts';
import { userMessage } from '../../src/values/message.ts';
import { plainWire } from '../support/plain-wire.ts';

const view = { provider: 'plain', files: ['*/*'] };
const envelope = { model: 'plain-1', system: undefined, tools: [], toolChoice: 'auto' } as const;

function answer(turn: number): AssistantMessage {
  return {
    role: 'assistant',
    content: [
      { type: 'text', text: `Turn ${turn}: ä€😀` },
      { type: 'tool_call', id: 'same', toolName: 'look', arguments: { turn } },
    ],
  };
}

function result(text: string): ToolResultMessage {
  return { role: 'tool_result', toolCallId: 'same', content: [{ type: 'text', text }] };
}

/** Returns a history cache that records the turns it serializes. */
function counting() {
  const serialised: Turn[] = [];
  const wire = plainWire({
    turn(turn) {
      serialised.push(turn);
      return [turn as never];
    },
  });
  const bytes = new HistoryBytes(wire, view);
  const histories = {
    /** Gets the bytes and marks them as sent, as an agent does. */
    of(messages: readonly Message[], isMarked = true) {
      const turns = bytes.of(messages);
      turns.track.send({ envelope, bytes: turns.bytes.length, timing: undefined }, isMarked);
      return turns;
    },
  };
  return { histories, serialised };
}

function textOf(turns: TurnBytes): string {
  return new TextDecoder().decode(turns.bytes);
}

/** Returns the expected bytes: all turns serialized at once. */
function expected(messages: readonly Message[]): string {
  return normalizeHistory(messages, view)
    .map((turn) => JSON.stringify(turn))
    .join(',');
}

describe('the bytes of a conversation', () => {
  test('serialize each message of 50 turns once and equal a fresh serialization [H1]', () => {
    const { histories, serialised } = counting();
    const messages: Message[] = [userMessage('Begin')];
    for (let turn = 0; turn < 50; turn += 1) {
      expect(textOf(histories.of([...messages]))).toBe(expected(messages));
      messages.push(answer(turn), result(`${turn}`.repeat(turn * 20)));
    }
    expect(textOf(histories.of(messages))).toBe(expected(messages));
    expect(serialised).toHaveLength(101);
  });

  test('contain all of a long non-ASCII text', () => {
    const { histories } = counting();
    const messages: Message[] = [userMessage('€'.repeat(20_000)), answer(1), result('😀ä'.repeat(30_000))];
    expect(textOf(histories.of(messages))).toBe(expected(messages));
  });

  test('never change after they are returned', () => {
    const { histories } = counting();
    const base: Message[] = [userMessage('Begin'), answer(1), result('1')];
    const first = histories.of(base);
    const before = textOf(first);
    histories.of([...base, answer(2), result('2'.repeat(5000))]);
    histories.of([...base, answer(3), result('3')]);
    histories.of([base[0] as Message, answer(4), result('4')]);
    expect(textOf(first)).toBe(before);
  });

  test('of forks do not affect each other, and share their common part', () => {
    const { histories, serialised } = counting();
    const base: Message[] = [userMessage('Begin'), answer(1), result('1')];
    histories.of(base);
    const forks = [2, 3, 4].map((turn) => [...base, answer(turn), result(`fork ${turn}`)]);
    const given = forks.map((fork) => histories.of(fork));
    expect(given.map(textOf)).toEqual(forks.map(expected));
    const longer = forks.map((fork, index) => [...fork, answer(9), result(`more ${index}`)]);
    expect(longer.map((fork) => textOf(histories.of(fork)))).toEqual(longer.map(expected));
    expect(serialised).toHaveLength(3 + 3 * 2 + 3 * 2);
  });

  test('serialize a last turn again if it grows', () => {
    const { histories, serialised } = counting();
    const messages: Message[] = [userMessage('a')];
    histories.of(messages);
    messages.push(userMessage('b'));
    expect(textOf(histories.of(messages))).toBe(expected(messages));
    messages.push({ role: 'assistant', content: [{ type: 'text', text: 'c' }] });
    histories.of(messages);
    messages.push({ role: 'assistant', content: [{ type: 'text', text: 'd' }] });
    expect(textOf(histories.of(messages))).toBe(expected(messages));
    expect(serialised).toHaveLength(4);
  });

  test('include the new content of a changed message', () => {
    const { histories } = counting();
    const messages: Message[] = [userMessage('a'), answer(1), result('1'), answer(2), result('2')];
    histories.of(messages);
    const changed = messages.with(2, result('other'));
    expect(textOf(histories.of(changed))).toBe(expected(changed));
    expect(textOf(histories.of(messages.slice(0, 3)))).toBe(expected(messages.slice(0, 3)));
  });

  test('can be extended if the assistant starts the conversation', () => {
    const { histories, serialised } = counting();
    const messages: Message[] = [
      { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
      userMessage('a'),
    ];
    histories.of(messages);
    messages.push(answer(1), result('1'));
    expect(textOf(histories.of(messages))).toBe(expected(messages));
    expect(serialised).toHaveLength(5);
  });

  test('of a rejected history can be created once it is complete', () => {
    const { histories } = counting();
    const messages: Message[] = [userMessage('a'), answer(1)];
    expect(() => histories.of(messages)).toThrow(/"same"/);
    messages.push(result('1'));
    expect(textOf(histories.of(messages))).toBe(expected(messages));
    expect(() => histories.of([])).toThrow(/no message/);
  });

  test('equal a fresh serialization after random growth, forks and cuts', () => {
    const random = seededRandom(11);
    const { histories } = counting();
    const first = userMessage('first');
    let known: Message[][] = [[first]];
    for (let step = 0; step < 400; step += 1) {
      let messages = [...random.pick(known)];
      if (random.chance(0.2))
        messages = messages.slice(0, 1 + 2 * random.between(0, (messages.length - 1) >> 1));
      for (let more = random.between(0, 3); more > 0; more -= 1) {
        messages.push(answer(step), result('r'.repeat(random.between(0, 300))));
      }
      expect(textOf(histories.of(messages))).toBe(expected(messages));
      known = [...known, messages].slice(-12);
    }
  });
});

describe('cache marks', () => {
  /** Returns the text before a mark. */
  const end = (turns: TurnBytes, place: number) =>
    new TextDecoder().decode(turns.bytes.subarray(0, turns.marks[place]));

  test('are at the end of the last user turn of this request and of the one before', () => {
    const { histories } = counting();
    const messages: Message[] = [userMessage('Begin')];
    const first = histories.of(messages);
    expect(first.marks).toEqual([first.bytes.length]);
    messages.push(answer(1), result('1'));
    const second = histories.of(messages);
    expect(second.marks).toHaveLength(2);
    expect(end(second, 0)).toBe(expected(messages.slice(0, 1)));
    expect(end(second, 1)).toBe(expected(messages));
    expect(histories.of(messages).marks).toEqual(second.marks);
    messages.push(answer(2), result('2'));
    expect(histories.of(messages).marks).toEqual([second.bytes.length, histories.of(messages).bytes.length]);
  });

  test('are never on an assistant turn', () => {
    const { histories } = counting();
    const messages: Message[] = [
      userMessage('a'),
      { role: 'assistant', content: [{ type: 'text', text: 'pause' }] },
    ];
    const turns = histories.of(messages);
    expect(end(turns, 0)).toBe(expected(messages.slice(0, 1)));
    expect(turns.marks).toHaveLength(1);
  });

  test('of a fork include that of the request it branches from', () => {
    const { histories } = counting();
    const base: Message[] = [userMessage('a'), answer(1), result('1')];
    histories.of(base);
    histories.of([...base, answer(2), result('2')]);
    const fork = histories.of([...base, answer(3), result('3')]);
    expect(end(fork, 0)).toBe(expected(base));
    expect(fork.marks).toHaveLength(2);
  });
});
