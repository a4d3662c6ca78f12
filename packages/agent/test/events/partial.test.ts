import { describe, expect, it } from 'vitest';
import type { AskFailedEvent } from '../../src/events/event.ts';
import { lastAnswer } from '../../src/events/fold.ts';
import type { State } from '../../src/events/state.ts';
import { noMetrics } from '../../src/interfaces/metrics.ts';
import type { AssistantPart } from '../../src/values/message.ts';
import { textOf } from '../../src/values/message.ts';
import { answered, callPart, finished, said, told } from '../support/fold-story.ts';

const outline = (state: State): string[] => state.messages.map((each) => `${each.role}: ${textOf(each)}`);

describe('responses that ended early', () => {
  const failed = (...partial: AssistantPart[]): AskFailedEvent => ({
    type: 'ask_failed',
    error: { kind: 'aborted', message: 'stopped' },
    durationMs: 1,
    partial,
  });
  const text = (text: string): AssistantPart => ({ type: 'text', text });

  it.each([
    ['cancelled', 'the work was cancelled'],
    ['timeout', 'the time limit was reached'],
  ] as const)('are kept with a note that gives the reason: %s', (reason, why) => {
    const state = told(
      said('Go.'),
      { type: 'stop_requested', reason },
      failed(text('Once')),
      finished(reason),
    );
    expect(outline(state)).toEqual([
      'user: Go.',
      'assistant: Once',
      `user: Your last answer ended here, before it was complete: ${why}.`,
    ]);
    expect(lastAnswer(state.messages)).toBeUndefined();
  });

  it('are kept as text only, without reasoning, calls, provider data and empty text', () => {
    const seal = { provider: 'p', data: 's' };
    const parts: AssistantPart[] = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'opaque', seal },
      text(' '),
      text('Half \ud83d'),
      callPart('a'),
    ];
    const { messages, calls } = told(said('Go.'), failed(...parts));
    expect(messages[1]).toEqual({ role: 'assistant', content: [text('Half \ufffd')] });
    expect(calls).toEqual([]);
    expect(told(said('Go.'), failed({ type: 'reasoning', text: 'Hm.' })).messages).toHaveLength(1);
  });

  it('count neither as turns nor as responses or invocations, but their usage and cost are wasted', () => {
    const wasted = { inputTokens: 100, outputTokens: 7 };
    const event = failed(text('Once'));
    const error = { ...event.error, attempts: 2, wasted };
    const state = told(said('Go.'), { ...event, error, usd: 0.25 });
    expect([state.turns, state.answers]).toEqual([0, 0]);
    expect(state.metrics).toEqual({ ...noMetrics, attempts: 2, wasted, usd: 0.25, modelMs: 1 });
  });

  it('of a compaction are not kept', () => {
    const state = told(said('Go.'), { ...failed(text('So far')), compacting: true });
    expect(outline(state)).toEqual(['user: Go.']);
  });

  it('are not the last response, which stays the previous complete one', () => {
    const state = told(said('Go.'), answered([text('One.')]), said('On.'), failed(text('Tw')));
    expect(lastAnswer(state.messages)?.content).toEqual([text('One.')]);
  });
});
