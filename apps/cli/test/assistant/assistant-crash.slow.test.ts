import { expect, test } from 'vitest';
import { drillAssistantCrashes } from './assistant-crash-drill.ts';

test('killed around writes, in calls of Telegram and in its tool, the assistant replies, and says so where it may be a repeat [P13]', async () => {
  const figures = await drillAssistantCrashes({ every: 17 });
  process.stdout.write(
    `assistant: ${figures.moments} moments and ${figures.calls} calls, ${figures.kills} processes killed\n`,
  );
  expect(figures.moments).toBeGreaterThan(80);
  expect(figures.calls).toBeGreaterThanOrEqual(5);
  expect(figures.kills).toBeGreaterThan(5);
}, 120_000);
