import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../src/events/event.ts';
import { fold } from '../../src/events/fold.ts';
import { answered, callPart, finished, place, result, said, started, told } from '../support/fold-story.ts';

describe('repeated turns', () => {
  const same = (turn: number, rest: Parameters<typeof result>[2] = {}): EventBody[] => [
    answered([{ type: 'text', text: `Try ${turn}.` }, callPart(`id-${turn}`)]),
    started(turn, 0),
    result(turn, 0, { content: [{ type: 'text', text: 'nothing' }], ...rest }),
  ];
  const circle = [said('Go.'), ...same(1), ...same(2), ...same(3)];

  it('are counted by calls, arguments and results, not by ids or text', () => {
    expect(told(said('Go.')).repeats).toBe(0);
    expect(told(said('Go.'), ...same(1)).repeats).toBe(1);
    expect(told(...circle).repeats).toBe(3);
  });

  it('end with another call, another result, an error, or a response without calls', () => {
    const other = { content: [{ type: 'text', text: 'something' }] } as const;
    expect(told(...circle, ...same(4, other)).repeats).toBe(1);
    expect(told(...circle, ...same(4, { isError: true })).repeats).toBe(1);
    expect(told(...circle, answered([callPart('a', 'else')]), result(4, 0)).repeats).toBe(1);
    expect(told(...circle, answered([{ type: 'text', text: 'Done.' }])).repeats).toBe(0);
  });

  it('are reset by a message, the next run, a resumed run and an imported history', () => {
    expect(told(...circle, said('Hm.', true), answered([{ type: 'text', text: 'Hm.' }])).repeats).toBe(0);
    expect(told(...circle, said('Again.')).repeats).toBe(0);
    expect(told(...circle, finished('limit'), { type: 'resumed' }).repeats).toBe(0);
    expect(told({ type: 'history', messages: told(...circle).messages }).repeats).toBe(0);
  });

  it('survive a crash', () => {
    const state = told(...circle.slice(0, 7), { type: 'resumed' });
    for (const [index, body] of same(3).entries()) fold(state, place(body, 10 + index));
    expect(state.repeats).toBe(3);
  });
});
