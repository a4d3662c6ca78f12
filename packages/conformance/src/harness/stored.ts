import { isStored } from '@cobbler/agent';
import { expect, expectEqual } from '@cobbler/agent/testing';
import type { HarnessCase } from './case.ts';
import { group } from './case.ts';
import { endOf, eventsOf, seen } from './environment.ts';

const the = group('storage', ['refuses', 'calls']);

export const storeCases: readonly HarnessCase[] = [
  the(
    'events that the store rejected have no sequence number, and the run reports how it ended [P13, P16]',
    async (fixture) => {
      const { harness, log, refuse } = fixture;
      await endOf(harness.prompt('say One.'));
      const before = (await log()).length;
      const run = harness.prompt('use hold');
      await seen(run, 'tool_started');
      await refuse(true);
      harness.cancel();
      const events = await eventsOf(run);
      const result = await endOf(run);
      expect(['failed', 'cancelled'].includes(result.status), `a failure, found ${result.status}`);
      expectEqual(events.filter(isStored), (await log()).slice(before), 'the events with a sequence number');
      const last = events.at(-1);
      expectEqual([last?.type, last !== undefined && 'seq' in last], ['finished', false], 'the last event');
      expectEqual(
        last?.type === 'finished' && last.status,
        result.status,
        'the status in the finished event',
      );
      await refuse(false);
      const next = harness.prompt('say On.');
      expectEqual((await endOf(next)).text, 'On.', 'the next prompt');
      const all = await log();
      expectEqual(
        all.map(({ seq }) => seq),
        all.map((_, index) => index + 1),
        'the sequence numbers in the log',
      );
      expectEqual((await eventsOf(next)).filter(isStored).at(-1), all.at(-1), 'the last stored event');
    },
  ),
];
