import { isStored } from '@cobbler/agent';
import { expect, expectEqual } from '@cobbler/agent/testing';
import type { HarnessCase } from './cases.ts';
import { group } from './cases.ts';
import { endOf, eventsOf, seen } from './environment.ts';

const the = group('what is stored', ['refuses', 'calls']);

export const storeCases: readonly HarnessCase[] = [
  the(
    'what the store has not accepted has no place, and the run says how it ended [P13, P16]',
    async (scene) => {
      const { harness, log, refuse } = scene;
      await endOf(harness.prompt('say One.'));
      const before = (await log()).length;
      const run = harness.prompt('use hold');
      await seen(run, 'tool_started');
      await refuse(true);
      harness.cancel();
      const events = await eventsOf(run);
      const result = await endOf(run);
      expect(['failed', 'cancelled'].includes(result.status), `no good end, found ${result.status}`);
      expectEqual(events.filter(isStored), (await log()).slice(before), 'the events with a place');
      const last = events.at(-1);
      expectEqual([last?.type, last !== undefined && 'seq' in last], ['finished', false], 'the last event');
      expectEqual(last?.type === 'finished' && last.status, result.status, 'the status that was shown');
      await refuse(false);
      const next = harness.prompt('say On.');
      expectEqual((await endOf(next)).text, 'On.', 'the next prompt');
      const all = await log();
      expectEqual(
        all.map(({ seq }) => seq),
        all.map((_, index) => index + 1),
        'the places in the log',
      );
      expectEqual((await eventsOf(next)).filter(isStored).at(-1), all.at(-1), 'the last stored event');
    },
  ),
];
