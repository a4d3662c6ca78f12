import { describe, expect, it } from 'vitest';
import { play, testFaults } from './faults.ts';

testFaults('claude-code');
testFaults('codex');

describe('internal retries of Claude Code [P8]', () => {
  it('withdraw the partial response before the complete one', async () => {
    const { result, events } = await play('claude-code', 'fault withdrawn');
    expect(events.map(({ type }) => type)).toEqual(['session', 'delta', 'withdrawn', 'part', 'end']);
    expect(result).toMatchObject({ status: 'completed', output: 'A whole answer.' });
  });
});
