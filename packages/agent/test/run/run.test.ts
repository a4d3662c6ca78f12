import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ApprovalRequestedEvent } from '../../src/events/event.ts';
import type { LimitName } from '../../src/interfaces/limits.ts';
import { noMetrics } from '../../src/interfaces/metrics.ts';
import { Feed } from '../../src/run/feed.ts';
import type { RunControl, RunResult } from '../../src/run/run.ts';
import { Run, runResult } from '../../src/run/run.ts';
import { AgentError } from '../../src/values/errors.ts';

const fields = { sessionId: 's', runId: 'r', text: '', messages: [], metrics: noMetrics } as const;

function rig(result: RunResult = runResult({ ...fields, status: 'complete' })) {
  const heard: unknown[] = [];
  const control: RunControl = {
    cancel: () => heard.push('cancel') > 0,
    steer: (content) => heard.push(content) > 0,
    decide: (approvalId, answer) => heard.push([approvalId, answer]) > 0,
  };
  const run = new Run({ id: 'r', sessionId: 's' }, Promise.resolve(result), new Feed(), control);
  return { run, heard, result };
}

describe('a run', () => {
  it('can be awaited like a promise and returns its result', async () => {
    const { run, result } = rig();
    expect(await run).toBe(result);
    expect(await run.result).toBe(result);
    expect(await run.then(({ status }) => status)).toBe('complete');
  });

  it('passes on messages, and strings as parts', () => {
    const { run, heard } = rig();
    expect([run.steer('Hi'), run.cancel(), run.decide('a', { decision: 'allow' })]).toEqual([
      true,
      true,
      true,
    ]);
    expect(heard).toEqual([[{ type: 'text', text: 'Hi' }], 'cancel', ['a', { decision: 'allow' }]]);
  });
});

describe('unwrap', () => {
  it('returns the result of a complete run', () => {
    const result = runResult({ ...fields, status: 'complete' });
    expect(result.unwrap()).toBe(result);
  });

  it('throws the error of any other run, and creates one if there is none [P1]', () => {
    const error = new AgentError({ kind: 'network', message: 'cut' });
    expect(() => runResult({ ...fields, status: 'failed', error }).unwrap()).toThrow(error);
    for (const status of ['max_tokens', 'refusal', 'waiting'] as const) {
      const thrown = catching(() => runResult({ ...fields, status }).unwrap());
      expect(AgentError.is(thrown) && thrown.code).toBe(status);
    }
  });
});

describe('the fields of a result', () => {
  const error = new AgentError({ kind: 'limit', code: 'turns', message: 'enough' });
  const all = { ...fields, error, limit: 'turns', output: { pairs: 2 }, approvals: [] } as const;

  it.each([
    ['complete', ['output']],
    ['failed', ['error']],
    ['cancelled', ['error']],
    ['timeout', ['error']],
    ['limit', ['error', 'limit']],
    ['waiting', ['approvals']],
    ['max_tokens', []],
    ['refusal', []],
  ] as const)('belong to its status: %s has %j', (status, own) => {
    const result = runResult({ ...all, status });
    const shared = ['messages', 'metrics', 'runId', 'sessionId', 'status', 'text', 'unwrap'];
    expect(Object.keys(result).sort()).toEqual([...shared, ...own].sort());
  });

  it('of a failure always contain an error, even if the log has none [P1]', () => {
    for (const status of ['failed', 'limit', 'cancelled', 'timeout'] as const)
      expect(runResult({ ...fields, status }).error?.message, status).toMatch(/^(The run|The time limit)/);
  });

  it('are narrowed by the status at compile time', () => {
    const result: RunResult<{ pairs: number }> = runResult({
      ...fields,
      status: 'complete',
      output: { pairs: 2 },
    });
    if (result.status === 'complete') expectTypeOf(result.output).toEqualTypeOf<{ pairs: number }>();
    if (result.status === 'failed') expectTypeOf(result.error).toEqualTypeOf<AgentError>();
    if (result.status === 'limit') expectTypeOf(result.limit).toEqualTypeOf<LimitName | undefined>();
    if (result.status === 'waiting')
      expectTypeOf(result.approvals).toEqualTypeOf<readonly ApprovalRequestedEvent[]>();
    expectTypeOf(result.output).toEqualTypeOf<{ pairs: number } | undefined>();
    expectTypeOf(result.error).toEqualTypeOf<AgentError | undefined>();
    expect(result.unwrap().output.pairs).toBe(2);
  });
});

function catching(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
