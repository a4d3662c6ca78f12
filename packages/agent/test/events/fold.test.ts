import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../src/events/event.ts';
import { fold, safeCut } from '../../src/events/fold.ts';
import type { State } from '../../src/events/state.ts';
import { copyState, emptyState, unanswered } from '../../src/events/state.ts';
import { assertValidHistory } from '../../src/testing/valid-history.ts';
import type { Message } from '../../src/values/message.ts';
import { textOf, userMessage } from '../../src/values/message.ts';
import {
  answered,
  callPart,
  finished,
  place,
  result,
  said,
  started,
  story,
  told,
} from '../support/fold-story.ts';

const outline = (state: State): string[] => state.messages.map((each) => `${each.role}: ${textOf(each)}`);

/** Returns true if the last message says that the previous response was cut off. */
const isCutOff = (state: State) => outline(state).at(-1)?.startsWith('user: Your last answer was cut off');

describe('the fold, for any sequence of events', () => {
  const runs = { numRuns: 500, seed: 20_261_121 };

  it('never throws [F1]', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const state = emptyState();
        for (const [index, [runId, step]] of steps.entries())
          fold(state, place(step(state), index + 1, runId));
      }),
      runs,
    );
  });

  it('gives a valid history wherever a run ends [F2, F3, F5, P12]', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const state = emptyState();
        steps.forEach(([runId, step], index) => {
          fold(state, place(step(state), index + 1, runId));
          const ended = copyState(state);
          fold(ended, place(finished('failed'), index + 2, runId));
          expect(ended.calls).toEqual([]);
          expect(ended.steering).toEqual([]);
          assertValidHistory(ended.messages);
          const goneOn = copyState(state);
          fold(goneOn, place(said('Go on.'), index + 2, 'run-9'));
          assertValidHistory(goneOn.messages);
          expect(goneOn.messages.at(-1)).toEqual(userMessage('Go on.'));
        });
      }),
      runs,
    );
  });

  it('keeps calls open only for the last message, each with its own position [F2]', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const state = emptyState();
        const places = new Set<string>();
        steps.forEach(([runId, step], index) => {
          fold(state, place(step(state), index + 1, runId));
          const { calls, messages } = state;
          if (calls.length === 0) return;
          expect(unanswered(state).length).toBeGreaterThan(0);
          const last = messages.at(-1);
          expect(
            last?.role === 'assistant' && last.content.filter(({ type }) => type === 'tool_call').length,
          ).toBe(calls.length);
          for (const call of calls) places.add(`${call.turn}.${call.index}`);
          expect(calls.every(({ turn }) => turn === state.answers)).toBe(true);
        });
      }),
      runs,
    );
  });

  it('never changes a placed message, and removes messages only to summarize them [F6]', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const state = emptyState();
        let before: readonly Message[] = [];
        let written: string[] = [];
        steps.forEach(([runId, step], index) => {
          const body = step(state);
          fold(state, place(body, index + 1, runId));
          const kept =
            body.type === 'compacted' && state.messages[0] !== before[0]
              ? state.messages.slice(1, isCutOff(state) ? -1 : undefined)
              : state.messages;
          const from = before.length - (kept === state.messages ? before.length : kept.length);
          before.slice(from).forEach((message, at) => {
            expect(kept[at]).toBe(message);
            expect(JSON.stringify(kept[at])).toBe(written[from + at]);
          });
          before = [...state.messages];
          written = before.map((message) => JSON.stringify(message));
        });
      }),
      runs,
    );
  });

  it('gives the same state for the same events after a round trip through JSON', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const state = emptyState();
        const events = steps.map(([runId, step], index) => {
          const event = place(step(state), index + 1, runId);
          fold(state, event);
          return event;
        });
        const again = emptyState();
        for (const event of JSON.parse(JSON.stringify(events))) fold(again, event);
        expect(JSON.parse(JSON.stringify(again))).toEqual(JSON.parse(JSON.stringify(state)));
      }),
      { ...runs, numRuns: 200 },
    );
  });
});

describe('calls and results', () => {
  const two = answered([callPart('a'), callPart('b')]);

  it('places results in the order of the calls once all are available [F3]', () => {
    const state = told(said('Go.'), two, started(1, 0), started(1, 1), result(1, 1));
    expect(outline(state)).toEqual(['user: Go.', 'assistant: ']);
    fold(state, place(result(1, 0), 6));
    expect(outline(state).slice(2)).toEqual(['tool_result: result 1.0', 'tool_result: result 1.1']);
    expect(state.stopReason).toBeUndefined();
  });

  it('ignores a result for an unknown call, and a second one [F1]', () => {
    const state = told(
      said('Go.'),
      two,
      result(1, 0),
      result(1, 0, { content: [] }),
      result(1, 7),
      result(3, 0),
    );
    expect(unanswered(state).map(({ index }) => index)).toEqual([1]);
    fold(state, place(result(1, 1), 7));
    expect(outline(state).slice(2)).toEqual(['tool_result: result 1.0', 'tool_result: result 1.1']);
    expect(state.metrics.toolMs).toBe(4);
  });

  it('closes a started call with an unknown outcome and any other as not run [P9]', () => {
    const state = told(said('Go.'), two, started(1, 0), finished('failed'));
    expect(state.messages.slice(2)).toMatchObject([{ isError: true }, { isError: true, notRun: true }]);
    expect(state.messages[2]).not.toHaveProperty('notRun');
    expect(outline(state)[2]).toContain('outcome is unknown');
  });

  it('gives the reason why a call was not run', () => {
    const why = (...bodies: EventBody[]) => outline(told(said('Go.'), two, ...bodies, finished('failed')))[2];
    expect(why({ type: 'stop_requested', reason: 'cancelled' })).toContain('cancelled');
    expect(why({ type: 'stop_requested', reason: 'timeout' })).toContain('time limit');
    expect(why({ type: 'stop_requested', reason: 'limit', limit: 'toolCalls' })).toContain(
      'limit was reached',
    );
    expect(why()).toContain('failed or the work stopped');
  });

  it('immediately closes the calls of a response that did not stop to run them [P9]', () => {
    const state = told(said('Go.'), answered([callPart('a')], { stopReason: 'max_tokens' }));
    expect(state.calls).toEqual([]);
    expect(state.stopReason).toBe('max_tokens');
    expect(state.messages[2]).toMatchObject({ role: 'tool_result', notRun: true });
  });

  it('a result that stops the batch does not affect started calls', () => {
    const three = answered([callPart('a'), callPart('b'), callPart('c')]);
    const state = told(
      said('Go.'),
      three,
      started(1, 0),
      started(1, 1),
      result(1, 0, { isError: true, stopsBatch: true }),
    );
    expect(unanswered(state).map(({ index }) => index)).toEqual([1]);
    fold(state, place(result(1, 1), 6));
    expect(state.messages.slice(2)).toMatchObject([{ isError: true }, { toolCallId: 'b' }, { notRun: true }]);
  });

  it('a final result completes the run when the whole batch has its results', () => {
    const state = told(said('Go.'), two, result(1, 0, { final: true }));
    expect(state.stopReason).toBe('tool_use');
    fold(state, place(result(1, 1), 4));
    expect(state.stopReason).toBe('complete');
  });

  it('counts a started tool once, however often it is started again', () => {
    const state = told(said('Go.'), two, started(1, 0), { type: 'resumed' }, started(1, 0));
    expect(state.toolCalls).toBe(1);
    expect(state.metrics.toolCalls).toBe(1);
  });

  it('a resumed session marks started calls without a result as orphaned', () => {
    const state = told(said('Go.'), two, started(1, 0), started(1, 1), result(1, 0), { type: 'resumed' });
    expect(state.calls.map(({ orphaned }) => orphaned)).toEqual([false, true]);
    fold(state, place(started(1, 1), 7));
    expect(state.calls.map(({ orphaned }) => orphaned)).toEqual([false, false]);
  });
});

describe('steering', () => {
  it('follows the results of the running batch [F4]', () => {
    const state = told(said('Go.'), answered([callPart('a')]), said('Hurry.', true), result(1, 0));
    expect(outline(state).slice(2)).toEqual(['tool_result: result 1.0', 'user: Hurry.']);
  });

  it('waits for a response that may be in progress, and then requests another [F4]', () => {
    const state = told(said('Go.'), answered([callPart('a')]), result(1, 0), said('Hurry.', true));
    expect(outline(state)).toHaveLength(3);
    fold(state, place(answered([{ type: 'text', text: 'Done.' }]), 5));
    expect(outline(state).slice(3)).toEqual(['assistant: Done.', 'user: Hurry.']);
    expect(state.stopReason).toBeUndefined();
  });

  it('follows the last response and clears its stop reason [F4]', () => {
    const state = told(said('Go.'), answered([{ type: 'text', text: 'Done.' }]), said('More.', true));
    expect(outline(state).at(-1)).toBe('user: More.');
    expect(state.stopReason).toBeUndefined();
  });

  it('does not come between the parts of a paused response [F4]', () => {
    const half = answered([{ type: 'text', text: 'Half' }], { stopReason: 'pause' });
    const state = told(said('Go.'), said('More.', true), half, said('Still more.', true));
    expect(outline(state)).toEqual(['user: Go.', 'assistant: Half']);
    fold(state, place(answered([{ type: 'text', text: 'Whole' }]), 5));
    expect(outline(state).slice(2)).toEqual(['assistant: Whole', 'user: More.', 'user: Still more.']);
  });
});

describe('runs of a session', () => {
  it('a new run starts with its own counts', () => {
    const state = told(said('Go.'), answered([{ type: 'text', text: 'Done.' }]), finished('complete'));
    fold(state, place(said('Again.'), 4, 'run-2'));
    expect(state).toMatchObject({
      turns: 0,
      toolCalls: 0,
      answers: 1,
      stopReason: undefined,
      finished: undefined,
    });
    expect(state.metrics.invocations).toBe(0);
  });

  it('a resumed run keeps its counts, and clears its failure and end [P14]', () => {
    const state = told(
      said('Go.'),
      answered([callPart('a')]),
      result(1, 0),
      { type: 'ask_failed', error: { kind: 'network', message: 'cut' }, durationMs: 1 },
      finished('failed'),
    );
    fold(state, place({ type: 'resumed' }, 6, 'run-2'));
    expect(state).toMatchObject({ turns: 1, failure: undefined, finished: undefined, runId: 'run-2' });
  });

  it('a resumed run that was being stopped stays stopped', () => {
    const state = told(said('Go.'), { type: 'stop_requested', reason: 'cancelled' }, { type: 'resumed' });
    expect(state.stop).toBe('cancelled');
  });

  it('the first of two reasons to stop counts [P4]', () => {
    const stops = (['timeout', 'cancelled'] as const).map(
      (reason): EventBody => ({ type: 'stop_requested', reason }),
    );
    expect(told(said('Go.'), ...stops).stop).toBe('timeout');
  });

  it('a waiting run keeps its calls open', () => {
    const state = told(said('Go.'), answered([callPart('a')]), finished('waiting'));
    expect(unanswered(state)).toHaveLength(1);
  });
});

describe('compaction', () => {
  const messages = told(
    said('Go.'),
    answered([callPart('a'), callPart('b')]),
    result(1, 0),
    result(1, 1),
  ).messages;

  it('cuts only before a message that is not a result [F5]', () => {
    expect([0, 1, 2, 3, 4, 9, -3, Number.NaN, 1.7].map((wanted) => safeCut(messages, wanted))).toEqual([
      0, 1, 1, 1, 4, 4, 0, 0, 1,
    ]);
  });

  it('never happens while calls are open [F5]', () => {
    const state = told(said('Go.'), answered([callPart('a')]), {
      type: 'compacted',
      upTo: 1,
      summary: 'So far.',
    });
    expect(outline(state)[0]).toBe('user: Go.');
  });

  it('replaces messages with their summary', () => {
    const state = told(said('Go.'), answered([{ type: 'text', text: 'Done.' }]), said('On.'), {
      type: 'compacted',
      upTo: 2,
      summary: 'Went \ud800.',
    });
    expect(outline(state)).toEqual([
      'user: Summary of the conversation so far:\n\nWent \ufffd.',
      'user: On.',
    ]);
    expect(state.contextTokens).toBe(0);
  });

  const tooLong: EventBody = {
    type: 'ask_failed',
    error: { kind: 'invalid', code: 'context_full', message: 'too long' },
    durationMs: 1,
  };
  const shorter: EventBody = { type: 'compacted', upTo: 1, summary: 'Went.' };

  it('is allowed again after the next response, unless the conversation is still too long', () => {
    const full = answered([{ type: 'text', text: 'Half' }], { stopReason: 'context_full' });
    expect(told(said('Go.'), full, shorter).compacted).toBe(true);
    expect(told(said('Go.'), full, shorter, full).compacted).toBe(true);
    expect(told(said('Go.'), full, shorter, answered([{ type: 'text', text: 'Done.' }])).compacted).toBe(
      false,
    );
  });

  it('clears the failure of a conversation that was too long, and no other', () => {
    expect(told(said('Go.'), tooLong).failure?.code).toBe('context_full');
    expect(told(said('Go.'), tooLong, shorter).failure).toBeUndefined();
    expect(told(said('Go.'), tooLong, { ...shorter, upTo: 0 }).failure?.code).toBe('context_full');
    const cut: EventBody = { type: 'ask_failed', error: { kind: 'network', message: 'cut' }, durationMs: 1 };
    expect(told(said('Go.'), cut, shorter).failure?.kind).toBe('network');
  });

  it('a failed request counts with its usage and its cost [P14]', () => {
    const error = {
      kind: 'network',
      message: 'cut',
      attempts: 2,
      wasted: { inputTokens: 30, outputTokens: 4 },
    } as const;
    const { metrics } = told(said('Go.'), { type: 'ask_failed', error, durationMs: 1, usd: 0.5 });
    expect(metrics).toMatchObject({ wasted: { inputTokens: 30, outputTokens: 4 }, attempts: 2, usd: 0.5 });
  });

  it('that failed is not retried [P1]', () => {
    expect(told(said('Go.'), tooLong).compacted).toBe(false);
    expect(told(said('Go.'), { ...tooLong, compacting: true }).compacted).toBe(true);
  });

  it('tells the model that its response filled the window', () => {
    const full = answered([{ type: 'text', text: 'Half' }], { stopReason: 'context_full' });
    const state = told(said('Go.'), full, shorter);
    expect(isCutOff(state)).toBe(true);
    expect(state.stopReason).toBeUndefined();
    expect(isCutOff(told(said('Go.'), full, said('Shorter.', true), shorter))).toBe(false);
  });

  it('counts the usage of the summary [P14]', () => {
    const usage = { inputTokens: 70, outputTokens: 7 };
    const spent = { answers: 2, usage, wasted: usage, attempts: 3, durationMs: 5, usd: 0.25 };
    const { metrics, turns } = told(said('Go.'), { type: 'compacted', upTo: 1, summary: 'Went.', spent });
    expect(metrics).toMatchObject({
      totalInputTokens: 70,
      totalOutputTokens: 7,
      invocations: 2,
      attempts: 3,
      wasted: usage,
      usd: 0.25,
      modelMs: 5,
    });
    expect(turns).toBe(0);
  });
});
