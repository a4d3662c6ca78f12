import { answersStatus } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { makeAgent } from '../../src/config/make-agent.ts';
import { readRunFlags } from '../../src/config/run-flags.ts';
import { readSettings } from '../../src/config/settings.ts';
import { limitsOf } from '../../src/workplace/settings-parts.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Asks a service that wants a delay of 90 seconds, with a clock that jumps over delays. */
async function askAfterDelay(retryFor?: number) {
  const service = await mockService([answersStatus(429, { 'retry-after': '90' }), says('Here.')]);
  const env = { ...claudeAt(service), COBBLER_HOME: temporaryFolder() };
  const settings = await readSettings(env, retryFor === undefined ? {} : { retryFor });
  const delays: number[] = [];
  let now = 0;
  const runtime = {
    now: () => now,
    monotonic: () => now,
    random: () => 0.5,
    timer(ms: number, fire: () => void) {
      // Only the delay before a retry is this long.
      if (ms !== 90_000 || delays.length > 0) return () => undefined;
      delays.push(ms);
      now += ms;
      setImmediate(fire);
      return () => undefined;
    },
  };
  const { agent } = await makeAgent(settings, undefined, { runtime } as object);
  const request = {
    messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi.' }] }],
    tools: [],
  };
  return await agent.run(request).then(
    ({ attempts }) => attempts,
    ({ kind }) => kind,
  );
}

test('a long time for retries includes long delays that the service asks for', async () => {
  expect(await askAfterDelay()).toBe('rate_limit');
  expect(await askAfterDelay(7_200_000)).toBe(2);
});

test('a long time for retries is added to the time limit of a run, unless that is given', async () => {
  const limits = async (options: Record<string, string>) => {
    const flags = readRunFlags(options);
    return limitsOf(flags, await readSettings({ COBBLER_HOME: temporaryFolder() }, flags)).ms;
  };
  expect(await limits({ retryFor: '2h' })).toBe(3 * 3_600_000);
  expect(await limits({ retryFor: '2h', timeout: '10m' })).toBe(600_000);
  expect(await limits({ retryFor: '5m' })).toBeUndefined();
});
