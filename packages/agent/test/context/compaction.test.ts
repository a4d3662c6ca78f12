import { describe, expect, it } from 'vitest';
import type { Compacted, CompactionContext } from '../../src/context/compaction.ts';
import { compactionPoint, firstOf, keepLast } from '../../src/context/compaction.ts';
import { fold } from '../../src/events/fold.ts';
import { emptyState } from '../../src/events/state.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { Message } from '../../src/values/message.ts';
import { textOf, userMessage } from '../../src/values/message.ts';
import { place } from '../support/fold-story.ts';

const call = { type: 'tool_call', id: 'a', toolName: 't', arguments: {} } as const;
const messages: readonly Message[] = [
  userMessage('Mend the clock.'),
  { role: 'assistant', content: [call, { ...call, id: 'b' }] },
  { role: 'tool_result', toolCallId: 'a', content: [{ type: 'text', text: '1' }] },
  { role: 'tool_result', toolCallId: 'b', content: [{ type: 'text', text: '2' }] },
  userMessage('And the bell.'),
  { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
];

const means: CompactionContext = {
  agent: scriptedModel([]),
  signal: new AbortController().signal,
  ask: () => Promise.reject(new Error('The model must not be called.')),
};

function afterwards(given: readonly Message[], made: Compacted | undefined): Message[] {
  const state = emptyState();
  fold(state, place({ type: 'history', messages: given }, 1));
  if (made !== undefined) fold(state, place({ type: 'compacted', ...made }, 2));
  return state.messages;
}

describe('compactionPoint', () => {
  it('keeps at least the requested number of messages and never separates a call from its result', () => {
    const points = [0, 1, 2, 3, 4, 5, 6, 99].map((keep) => compactionPoint(messages, keep));
    expect(points).toEqual([6, 5, 4, 1, 1, 1, 0, 0]);
    for (const point of points) expect(messages[point]?.role).not.toBe('tool_result');
  });
});

describe('keepLast', () => {
  it('keeps the last messages and, of the earlier ones, those of the user', async () => {
    const made = await keepLast(1)(messages, means);
    const [first, ...rest] = afterwards(messages, made);
    expect(rest).toEqual(messages.slice(5));
    const said = first === undefined ? '' : textOf(first);
    expect(said).toMatch(/Mend the clock\.\n\nAnd the bell\.$/);
  });

  it('keeps the messages of the user over several compactions, without summarizing summaries', async () => {
    let now: Message[] = [...messages];
    for (let round = 0; round < 20; round += 1) {
      now = [
        ...now,
        userMessage(`Task ${round}.`),
        { role: 'assistant', content: [{ type: 'text', text: 'Ok.' }] },
      ];
      now = afterwards(now, await keepLast(1)(now, means));
    }
    const said = textOf(now[0] ?? userMessage(''));
    expect(said.match(/Summary of the conversation/g)).toHaveLength(1);
    expect(said).toContain('Mend the clock.');
    expect(said).toContain('Task 19.');
    expect(said.length).toBeLessThan(3000);
  });

  it('limits the size of the kept messages', async () => {
    const wordy = [userMessage('word '.repeat(50_000)), ...messages];
    const made = await keepLast(2)(wordy, means);
    expect(made?.summary.length).toBeLessThan(8200);
    expect(made?.summary).toContain('bytes omitted');
  });

  it('does nothing if there are no older messages, or only a summary', async () => {
    expect(await keepLast(6)(messages, means)).toBeUndefined();
    const before = afterwards(messages, await keepLast(1)(messages, means));
    expect(await keepLast(1)(before, means)).toBeUndefined();
  });
});

describe('firstOf', () => {
  const fails = () => Promise.reject(new Error('no'));
  const nothing = () => undefined;
  const cut = () => ({ upTo: 1, summary: 's' });

  it('uses the first compaction that works', async () => {
    expect(await firstOf(fails, nothing, cut, fails)(messages, means)).toEqual(cut());
  });

  it('returns or throws the outcome of the last compaction if none works', async () => {
    await expect(firstOf(nothing, fails)(messages, means)).rejects.toThrow('no');
    expect(await firstOf(fails, nothing)(messages, means)).toBeUndefined();
    expect(await firstOf()(messages, means)).toBeUndefined();
  });

  it('tries no other compaction once the run must stop [P3]', async () => {
    const stopped = { ...means, signal: AbortSignal.abort() };
    await expect(firstOf(fails, cut)(messages, stopped)).rejects.toThrow('no');
  });
});
