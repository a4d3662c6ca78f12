import { expect, test } from 'vitest';
import { drillAssistantCrashes } from './assistant-crash-drill.ts';

test('the assistant replies after kills in writes, Telegram calls and its tool, and marks possible duplicates [P13]', async () => {
  const figures = await drillAssistantCrashes({ every: 17 });
  process.stdout.write(
    `assistant: ${figures.moments} moments and ${figures.calls} calls, ${figures.kills} processes killed\n`,
  );
  expect(figures.moments).toBeGreaterThan(80);
  expect(figures.calls).toBeGreaterThanOrEqual(5);
  expect(figures.kills).toBeGreaterThan(5);
}, 120_000);
