import { describeContract, gateContract } from '@cobbler/conformance';
import type { CallDecision } from '@cobbler/delegate';
import { describe, expect, it } from 'vitest';
import { backendOf } from './fake-programs.ts';
import { delegatedDoors } from './gate-doors.ts';
import { fakePrograms } from './rig.ts';

describe.each(delegatedDoors)('the gate contract at $name [P21]', (door) =>
  describeContract(gateContract(door), { describe, it }),
);

describe('a decision passed directly to a process [P21]', () => {
  it.each([
    ['claude-code', { behavior: 'deny' }],
    ['claude-code', false],
    ['codex app-server', { behavior: 'deny' }],
    ['codex app-server', { type: 'allow', arguments: { command: 'changed' } }],
  ] as const)('of %s denies the call if it is not a valid allow: %j', async (name, decision) => {
    const { workspace, options } = fakePrograms();
    const backend = backendOf(name, options, 'gate');
    const job = backend.start(
      { prompt: 'use write', workingDir: workspace },
      {
        onEvent(event) {
          if (event.type === 'asked') job.decide(event.callId, decision as CallDecision);
        },
      },
    );
    expect((await job.result).output).toBe('refused');
  });
});
