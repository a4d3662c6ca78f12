import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { errorOf } from '../../src/run/run.ts';
import type { ErrorData } from '../../src/values/errors.ts';
import { AgentError, summarize } from '../../src/values/errors.ts';

const data: ErrorData = {
  kind: 'rate_limit',
  message: 'Slow down.',
  code: 'busy',
  retryable: true,
  retryAfterMs: 500,
  status: 429,
  provider: 'p',
  requestId: 'req_1',
  attempts: 4,
  wasted: { inputTokens: 5, outputTokens: 1 },
  cause: { name: 'ServerError', message: 'Slow down.', code: 'E429' },
};

describe('AgentError', () => {
  it('is an Error with a kind, a message and an accessible cause [S0.25]', () => {
    const error = new AgentError(data);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe('AgentError');
    expect(error).toMatchObject({
      kind: 'rate_limit',
      message: 'Slow down.',
      retryable: true,
      retryAfterMs: 500,
    });
    expect(error.cause).toEqual(data.cause);
  });

  it('converts to plain data and back without loss, but without its stack [S0.25]', () => {
    const error = new AgentError(data);
    expect(JSON.parse(JSON.stringify(error))).toEqual(data);
    expect(new AgentError(error.toJSON()).toJSON()).toEqual(data);
    expect(new AgentError({ kind: 'agent', message: 'No.' }).toJSON()).toEqual({
      kind: 'agent',
      message: 'No.',
    });
  });

  it('is recognized across copies of the package and created from any thrown value [S0.25]', () => {
    const foreign = { [Symbol.for('cobbler.AgentError')]: true };
    expect(AgentError.is(foreign)).toBe(true);
    expect([new Error('x'), {}, null, 'x', undefined].some((value) => AgentError.is(value))).toBe(false);
    const error = new AgentError(data);
    expect(AgentError.from(error)).toBe(error);
    expect(AgentError.from('words', 'tool')).toMatchObject({ kind: 'tool', message: 'words' });
  });

  it('exposes only name, message and code of its cause [P19]', () => {
    const vendor = Object.assign(new Error('refused'), {
      headers: { authorization: 'Bearer sk-secret' },
      request: 'sk-secret',
    });
    const error = AgentError.from(vendor);
    expect(`${inspect(error, { depth: 9 })}${JSON.stringify(error)}${String(error)}`).not.toContain(
      'sk-secret',
    );
  });

  it('describes any thrown value in limited text, and never throws [P10]', () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no');
        },
      },
    );
    const bad = {
      toString: () => {
        throw new Error('no');
      },
    };
    const thrown = [
      undefined,
      null,
      0,
      7n,
      Symbol('s'),
      () => 1,
      '',
      [],
      hostile,
      bad,
      Object.create(null),
      'x'.repeat(9999),
    ];
    for (const value of thrown) {
      const { name, message } = summarize(value);
      expect(typeof name).toBe('string');
      expect(typeof message).toBe('string');
      expect(message.length).toBeLessThanOrEqual(2001);
    }
  });
});

describe('the error of a status', () => {
  it('is derived only from event data [P1]', () => {
    expect(errorOf('failed', data)?.toJSON()).toEqual(data);
    expect(errorOf('cancelled', undefined)?.kind).toBe('aborted');
    expect(errorOf('timeout', undefined)?.kind).toBe('timeout');
    for (const status of ['complete', 'max_tokens', 'refusal', 'waiting'] as const) {
      expect(errorOf(status, undefined)).toBeUndefined();
    }
  });
});
