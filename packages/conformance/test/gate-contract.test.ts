import { askForVerdict, readVerdict } from '@cobbler/agent/harness';
import { describe, expect, it } from 'vitest';
import { gateContract } from '../src/gate/gate-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';
import { gateDoors } from './gate-doors.ts';

describe.each(gateDoors)('the gate contract at $name [P21]', (door) =>
  describeContract(gateContract(door), { describe, it }),
);

describe('a verdict [P21]', () => {
  it('explains what an invalid verdict must be', () => {
    expect(readVerdict({ type: 'yes' })).toEqual({
      type: 'deny',
      message: expect.stringMatching(
        /returned type "yes"\. Return "allow", "ask", "deny" or \{ type: 'deny', message \}\./,
      ),
    });
    expect(readVerdict('yes')).toMatchObject({
      type: 'deny',
      message: expect.stringMatching(/returned "yes"\./),
    });
  });

  it('accepts an ask, and keeps the interrupt of a deny', () => {
    expect(readVerdict({ type: 'ask' })).toEqual({ type: 'ask' });
    expect(readVerdict('ask')).toEqual({ type: 'ask' });
    expect(readVerdict('deny')).toEqual({ type: 'deny', message: 'The call was denied.' });
    expect(readVerdict({ behavior: 'deny', message: 'Stop.', interrupt: true })).toEqual({
      type: 'deny',
      message: 'Stop.',
      interrupt: true,
    });
  });

  it('denies if it arrives after the request was withdrawn', async () => {
    const stop = new AbortController();
    const answer = askForVerdict(async () => {
      stop.abort();
      return { type: 'allow' };
    }, stop.signal);
    expect((await answer).type).toBe('deny');
  });

  it('shares no objects with the returned arguments', () => {
    const given = { command: 'date', deep: { list: [1, -0] } };
    const verdict = readVerdict({ type: 'allow', arguments: given });
    given.deep.list.push(2);
    expect(verdict).toStrictEqual({ type: 'allow', arguments: { command: 'date', deep: { list: [1, 0] } } });
  });
});
