import type { Event, Usage } from '@cobbler/agent';
import { addUsage, costOf, noUsage } from '@cobbler/agent';
import { spendingOf } from '@cobbler/agent/events';
import { isNoUsage } from '@cobbler/agent/testing';
import { sameUsage } from './auditor.ts';
import type { Disk } from './environment/disk.ts';
import type { ModelService } from './environment/service.ts';
import { receivedOf } from './environment/service.ts';
import type { LifeContext } from './life.ts';
import type { SimulatedRun } from './scenario/record.ts';
import { chainOf } from './scenario/record.ts';
import { price } from './scenario/setting.ts';
import type { World } from './scenario/world.ts';

/** The cost of a run and of the runs that it continues. */
export interface RunCost {
  readonly used: Usage;
  readonly wasted: Usage;
  readonly answers: number;
}

/** Returns the committed usage of earlier runs in the chain and the usage that this run's agent reported. */
export function accountOf(record: SimulatedRun, disk: Disk): RunCost {
  const events = disk.events(record.sessionId);
  // A run that could not read its session does not know earlier usage.
  const before = record.blind ? [] : chainOf(events, record);
  let { used, wasted, answers } = committed(events.slice(0, record.known), before);
  for (const { spent, model } of record.calls) {
    if (spent === undefined) continue;
    used = addUsage(used, spent.used);
    wasted = addUsage(wasted, spent.wasted);
    if (model !== undefined) answers += 1;
  }
  return { used, wasted, answers };
}

function committed(events: readonly Event[], runs: readonly string[]): RunCost {
  let account: RunCost = { used: noUsage, wasted: noUsage, answers: 0 };
  for (const event of events) {
    const spent = runs.includes(event.runId) ? spendingOf(event) : undefined;
    if (spent === undefined) continue;
    account = {
      used: addUsage(account.used, spent.usage),
      wasted: addUsage(account.wasted, spent.wasted),
      answers: account.answers + (spent.answers ?? 1),
    };
  }
  return account;
}

/** P14: the usage that a run reports at its end is correct. */
export function checkAccount(record: SimulatedRun, { disk, world, setting }: LifeContext): void {
  const { result } = record;
  if (result === undefined) return;
  const { metrics } = result;
  const { used, wasted, answers } = accountOf(record, disk);
  const reported: Usage = {
    inputTokens: metrics.totalInputTokens,
    outputTokens: metrics.totalOutputTokens,
    cacheReadTokens: metrics.cacheReadTokens,
    cacheWriteTokens: metrics.cacheWriteTokens,
    reasoningTokens: metrics.reasoningTokens,
  };
  const show = (usage: Usage) => JSON.stringify(usage);
  world.expect(
    sameUsage(reported, used),
    'P14 totals',
    () => `${show(used)} were used, reported ${show(reported)}`,
  );
  world.expect(
    sameUsage(metrics.wasted, wasted),
    'P14 wasted totals',
    () => `${show(wasted)} were wasted, reported ${show(metrics.wasted)}`,
  );
  // Costs are fractions, so their sum is not exact.
  const cost = costOf(used, price) + costOf(wasted, price);
  const isPriced = setting.priced || (isNoUsage(used) && isNoUsage(wasted));
  const isPaid = isPriced ? Math.abs((metrics.usd ?? -1) - cost) < 1e-9 : metrics.usd === undefined;
  world.expect(isPaid, 'P14 money', () => `$${cost} were spent, reported $${metrics.usd}`);
  world.expect(
    metrics.invocations === answers,
    'P14 answers',
    `there were ${answers} responses, reported ${metrics.invocations}`,
  );
}

/** Every response in the log came from the service, complete, once, with its own counts. */
export function checkResponses(events: readonly Event[], service: ModelService, world: World): void {
  const seen = new Set<string>();
  for (const event of events) {
    if (event.type !== 'assistant') continue;
    const served = service.ofModel(event.model);
    if (served === undefined) {
      world.violate('log answers', `the response of ${event.model} did not come from the service`);
      continue;
    }
    const received = receivedOf(served);
    world.expect(!seen.has(event.model), 'log answers', `the response of ${event.model} is in the log twice`);
    world.expect(received.ended, 'P1 truncated', `the stored response of ${event.model} has no end`);
    world.expect(
      sameUsage(event.usage, received.usage),
      'P14 stored',
      `the counts of ${event.model} differ from those of the service`,
    );
    seen.add(event.model);
  }
}
