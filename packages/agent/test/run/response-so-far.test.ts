import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/events/event.ts';
import { AnswerSoFar } from '../../src/run/response-so-far.ts';
import { answered, place } from '../support/fold-story.ts';

const thinking = { type: 'status', state: 'thinking' } as const;
const text = (index: number, text: string): RunEvent => ({ type: 'text_delta', index, text });
const thought = (index: number, text: string): RunEvent => ({ type: 'reasoning_delta', index, text });
const call: RunEvent = { type: 'tool_call', index: 2, call: { id: 'c', toolName: 'look', arguments: {} } };
const error = { kind: 'network', message: 'cut' } as const;

function soFar(...events: RunEvent[]): AnswerSoFar {
  const answer = new AnswerSoFar();
  for (const event of events) answer.handle(event);
  return answer;
}

describe('the response so far', () => {
  it('joins the deltas of a block, and keeps blocks in order', () => {
    const answer = soFar(thinking, thought(0, 'H'), thought(0, 'm.'), text(1, 'Hel'), text(1, 'lo'), call);
    expect(answer.events).toEqual([thinking, thought(0, 'Hm.'), text(1, 'Hello'), call]);
    expect(answer.content).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello' },
    ]);
  });

  it('joins interleaved blocks', () => {
    const answer = soFar(thinking, text(0, 'one '), thought(1, 'Hm.'), text(0, 'two'));
    expect(answer.events).toEqual([thinking, text(0, 'one two'), thought(1, 'Hm.')]);
    answer.handle({ type: 'text', index: 0, text: 'one two' });
    expect(answer.content).toEqual([
      { type: 'text', text: 'one two' },
      { type: 'reasoning', text: 'Hm.' },
    ]);
  });

  it('replaces deltas with the complete block', () => {
    const answer = soFar(thinking, text(0, 'Hel'), { type: 'text', index: 0, text: 'Hello.' }, text(1, 'On'));
    expect(answer.events).toEqual([thinking, { type: 'text', index: 0, text: 'Hello.' }, text(1, 'On')]);
  });

  it('keeps nothing of a failed attempt [P8]', () => {
    const answer = soFar(
      thinking,
      text(0, 'Half'),
      { type: 'retry', attempt: 1, error, delayMs: 1 },
      text(0, 'Wh'),
    );
    expect(answer.events).toEqual([thinking, text(0, 'Wh')]);
    expect(answer.content).toEqual([{ type: 'text', text: 'Wh' }]);
  });

  it.each([
    ['a response', place(answered([{ type: 'text', text: 'Hello.' }]), 1)],
    ['a failed request', place({ type: 'ask_failed', error, durationMs: 1 }, 1)],
  ])('ends with %s', (_name, end) => {
    expect(soFar(thinking, text(0, 'Hello'), end)).toMatchObject({ events: [], content: [] });
  });

  it('starts again with each request', () => {
    expect(soFar(thinking, text(0, 'One'), thinking, text(0, 'Two')).events).toEqual([
      thinking,
      text(0, 'Two'),
    ]);
  });

  it('has nothing for the log without text: a space, reasoning, a call', () => {
    expect(soFar(thinking, thought(0, 'Hm.'), text(1, ' \n'), call).content).toEqual([]);
  });

  it('leaves out half of a surrogate pair', () => {
    expect(soFar(thinking, text(0, 'Hi \ud83d')).content).toEqual([{ type: 'text', text: 'Hi \ufffd' }]);
  });

  it('keeps the start of a response that is too long, but gives no part of it to late readers', () => {
    const answer = soFar(thinking);
    for (let part = 0; part < 1_100; part += 1) answer.handle(text(0, 'x'.repeat(1024)));
    expect(answer.events).toEqual([]);
    const [kept] = answer.content;
    expect(kept?.type === 'text' && kept.text.length).toBe(1023 * 1024);
    answer.handle(thinking);
    answer.handle(text(0, 'Short.'));
    expect(answer.events).toEqual([thinking, text(0, 'Short.')]);
  });
});
