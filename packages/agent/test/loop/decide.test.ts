import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { OpenCall, State } from '../../src/events/state.ts';
import { emptyState } from '../../src/events/state.ts';
import { noMetrics } from '../../src/interfaces/metrics.ts';
import type { Action, Policy } from '../../src/loop/action.ts';
import { decide } from '../../src/loop/decide.ts';

const policy: Policy = {
  turns: 10,
  toolCalls: Number.POSITIVE_INFINITY,
  onLimit: 'return',
  onReached: 'end',
  attended: false,
  compacts: false,
  compactAbove: Number.POSITIVE_INFINITY,
  prefixTokens: 0,
  repeats: Number.POSITIVE_INFINITY,
  mayRepeat: [],
};

function openCall(index: number, rest: Partial<OpenCall> = {}): OpenCall {
  const part = { type: 'tool_call', id: `${index}`, toolName: 'tool', arguments: {} } as const;
  return { turn: 1, index, part, started: false, orphaned: false, ...rest };
}

const waiting = openCall(0, {
  approval: {
    request: {
      type: 'approval_requested',
      approvalId: 'a',
      turn: 1,
      index: 0,
      callId: '0',
      toolName: 'tool',
      arguments: {},
      hash: 'h',
    },
  },
});

function next(changes: Partial<State>, rest: Partial<Policy> = {}): Action {
  return decide({ ...emptyState(), ...changes }, { ...policy, ...rest });
}

const finished = { type: 'finished', status: 'refusal', metrics: noMetrics } as const;
const failure = { kind: 'network', message: 'cut' } as const;
const full = { kind: 'invalid', code: 'context_full', message: 'too long' } as const;
const open = { stopReason: 'tool_use', calls: [openCall(0), openCall(1)] } as const;
const batch = { calls: [openCall(0).part], results: [] };

/** The checks in their order, one per row: conditions of later rows must not matter. */
const questions: readonly (readonly [string, Partial<State>, Partial<Policy>, Partial<Action>])[] = [
  ['the run has finished', { finished }, {}, { type: 'finish', status: 'refusal' }],
  ['a stop was requested', { stop: 'timeout' }, {}, { type: 'finish', status: 'timeout' }],
  ['the conversation no longer fits', { failure: full }, { compacts: true }, { type: 'compact' }],
  ['a request failed', { failure }, {}, { type: 'finish', status: 'failed', error: failure }],
  ['calls are open', { ...open, calls: [...open.calls] }, {}, { type: 'call_tools' }],
  ['the last response ended the run', { stopReason: 'complete' }, {}, { type: 'finish', status: 'complete' }],
  ['the turn limit is reached', { turns: 10 }, {}, { type: 'finish', status: 'limit', limit: 'turns' }],
  ['turns are repeated', { batch, repeats: 3 }, { repeats: 3 }, { type: 'finish', limit: 'no_progress' }],
  ['the conversation is too large', { contextTokens: 101 }, { compactAbove: 100 }, { type: 'compact' }],
  ['no other condition is true', {}, {}, { type: 'request' }],
];

describe('the order of the checks [P1, P4]', () => {
  for (const [place, [name, , , expected]] of questions.entries()) {
    it(`checks whether ${name} before everything after it`, () => {
      const below = questions.slice(place).reverse();
      const state = Object.assign({}, ...below.map(([, changes]) => changes));
      const rest = Object.assign({}, ...below.map(([, , changes]) => changes));
      expect(next(state, rest)).toMatchObject(expected);
    });
  }
});

describe('decide', () => {
  it('is pure: it changes nothing and returns equal actions for equal states', () => {
    for (const [, changes, rest] of questions) {
      const state = deepFreeze({ ...emptyState(), ...structuredClone(changes) });
      const given = deepFreeze({ ...policy, ...rest });
      expect(decide(state, given)).toEqual(decide(state, given));
    }
  });

  it('fits on one screen, is synchronous and depends only on the state', () => {
    const source = readFileSync(new URL('../../src/loop/decide.ts', import.meta.url), 'utf8');
    expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(70);
    expect(source).not.toMatch(/\b(async|await|Promise|Date|Math\.random|new)\b/);
    const values = [...source.matchAll(/^import (?!type )[\s\S]*? from '(.*)';$/gm)].map(([, from]) => from);
    expect(values).toEqual([
      '../context/tokens.ts',
      '../events/repeat-policy.ts',
      '../events/state.ts',
      './ending-error.ts',
    ]);
  });

  it('requests a response when one is needed and runs calls when there are any [S0.10, S0.11]', () => {
    expect(next({})).toEqual({ type: 'request' });
    expect(next({ ...open, calls: [...open.calls] })).toEqual({ type: 'call_tools', calls: open.calls });
    const answered = openCall(0, { result: { role: 'tool_result', toolCallId: '0', content: [] } });
    expect(next({ stopReason: 'tool_use', calls: [answered, openCall(1)] })).toEqual({
      type: 'call_tools',
      calls: [openCall(1)],
    });
  });

  it('shortens the conversation once and ends if that is all it was asked for', () => {
    const only = { compactsOnly: true };
    expect(next({ stopReason: 'complete' }, only)).toEqual({ type: 'compact' });
    expect(next({ stopReason: 'complete', compacted: true }, only)).toEqual({
      type: 'finish',
      status: 'complete',
    });
    const failure = { kind: 'agent', message: 'No.' } as const;
    expect(next({ compacted: true, failure }, only)).toMatchObject({ status: 'failed' });
  });

  it('ends as complete only after a complete response [P4, S0.9]', () => {
    const ends = (stopReason: NonNullable<State['stopReason']>) => next({ stopReason });
    expect(ends('complete')).toEqual({ type: 'finish', status: 'complete' });
    expect(ends('max_tokens')).toEqual({ type: 'finish', status: 'max_tokens' });
    expect(ends('refusal')).toEqual({ type: 'finish', status: 'refusal' });
    expect(ends('pause')).toEqual({ type: 'request' });
    const bad = { context_full: 'context_full', unknown: 'unknown_stop', tool_use: 'no_call' } as const;
    for (const [reason, code] of Object.entries(bad)) {
      const action = ends(reason as keyof typeof bad);
      expect(action).toMatchObject({ status: 'failed', error: { kind: 'agent', code } });
      expect(action).not.toMatchObject({ error: { message: '' } });
    }
  });

  it('runs no call of a response that did not stop to run it [P9]', () => {
    for (const stopReason of [
      'complete',
      'max_tokens',
      'refusal',
      'context_full',
      'unknown',
      'pause',
    ] as const) {
      expect(next({ stopReason, calls: [openCall(0)] }).type).not.toBe('call_tools');
    }
    expect(next({ calls: [openCall(0)] }).type).not.toBe('call_tools');
  });

  it('cuts a batch at the limit of tool calls [P1]', () => {
    const calls = [openCall(0), openCall(1), openCall(2)];
    const state = { stopReason: 'tool_use', calls, toolCalls: 3 } as const;
    expect(next({ ...state, calls }, { toolCalls: 5 })).toEqual({
      type: 'call_tools',
      calls: calls.slice(0, 2),
    });
    expect(next({ ...state, calls }, { toolCalls: 3 })).toMatchObject({
      status: 'limit',
      limit: 'toolCalls',
    });
    expect(next({ ...state, calls }, { toolCalls: 3, onLimit: 'finalize' })).toEqual({
      type: 'request',
      closing: 'toolCalls',
    });
  });

  it('ends as waiting only if no user is present [P21]', () => {
    const state = { stopReason: 'tool_use', calls: [waiting] } as const;
    expect(next({ ...state, calls: [waiting] })).toEqual({ type: 'finish', status: 'waiting' });
    expect(next({ ...state, calls: [waiting] }, { attended: true })).toEqual({
      type: 'call_tools',
      calls: [waiting],
    });
  });

  it('requests one closing response under finalize, whatever that response is [P1, P4]', () => {
    const rest = { onLimit: 'finalize' } as const;
    expect(next({ turns: 10 }, rest)).toEqual({ type: 'request', closing: 'turns' });
    expect(next({ turns: 10, closing: 'turns' }, rest)).toEqual({ type: 'request', closing: 'turns' });
    for (const stopReason of ['complete', 'tool_use', 'pause', 'max_tokens', 'unknown'] as const) {
      expect(next({ turns: 11, closing: 'turns', stopReason, calls: [openCall(0)] }, rest)).toMatchObject({
        status: 'limit',
        limit: 'turns',
      });
    }
  });

  it('compacts a conversation once, and only if compaction is enabled [P1]', () => {
    const compacts = { compacts: true } as const;
    expect(next({ failure: full }, compacts)).toEqual({ type: 'compact' });
    expect(next({ stopReason: 'context_full' }, compacts)).toEqual({ type: 'compact' });
    for (const state of [{ failure: full }, { stopReason: 'context_full' }] as const) {
      expect(next(state)).toMatchObject({ status: 'failed', error: { code: 'context_full' } });
      expect(next({ ...state, compacted: true }, compacts)).toMatchObject({ status: 'failed' });
    }
    const heavy = { contextTokens: 101, compacted: true } as const;
    expect(next(heavy, { ...compacts, compactAbove: 100 })).toEqual({ type: 'request' });
  });

  it('accepts a closing response that filled the context window', () => {
    const state = { closing: 'turns', stopReason: 'context_full' } as const;
    expect(next(state, { compacts: true })).toMatchObject({ status: 'limit', limit: 'turns' });
    expect(next({ closing: 'turns', failure: full }, { compacts: true })).toEqual({ type: 'compact' });
  });

  it('ends a run that repeats its turns, unless one of its tools may repeat [P1]', () => {
    const circles = { batch, repeats: 3 } as const;
    expect(next(circles, { repeats: 4 })).toMatchObject({ type: 'request' });
    expect(next(circles, { repeats: 3 })).toMatchObject({ status: 'limit', limit: 'no_progress' });
    expect(next(circles, { repeats: 3, mayRepeat: ['tool'] })).toEqual({ type: 'request' });
    expect(next(circles, { repeats: 3, onLimit: 'finalize' })).toEqual({
      type: 'request',
      closing: 'no_progress',
    });
    expect(next({ ...circles, closing: 'no_progress' }, { repeats: 3 })).toEqual({
      type: 'request',
      closing: 'no_progress',
    });
  });

  it('a limit that ended a request ends the run with that limit and its error [P1]', () => {
    const error = { kind: 'limit', code: 'usd', message: 'No money left.' } as const;
    expect(next({ failure: error })).toEqual({ type: 'finish', status: 'limit', limit: 'usd', error });
    expect(next({ turns: 10 })).toMatchObject({ error: { kind: 'limit', code: 'turns' } });
    const own = { kind: 'limit', code: 'answer_too_large', message: 'Too large.' } as const;
    expect(next({ failure: own })).toEqual({ type: 'finish', status: 'limit', error: own });
  });
});

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
