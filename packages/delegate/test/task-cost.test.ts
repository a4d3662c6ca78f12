import { join } from 'node:path';
import type { Spending } from '@cobbler/agent';
import { Budget } from '@cobbler/agent';
import { claudeCode } from '@cobbler/delegate';
import { createAgentTool } from '@cobbler/delegate/agent-tool';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FakePrograms } from './fake-programs.ts';
import { fakePrograms } from './rig.ts';

function toolOf({ options, workspace, area }: FakePrograms) {
  const sessionsFile = join(area, 'sessions.json');
  const tool = createAgentTool({ workspace, backends: [claudeCode(options)], sessionsFile });
  onTestFinished(() => tool.close());
  const { signal } = new AbortController();
  const call = async (args: object, budget: Budget) =>
    await tool.execute({ ...args }, { signal, callId: 'c', idempotencyKey: 'k', progress: () => {}, budget });
  return { call, close: () => tool.close() };
}

const create = (prompt: string, rest: object = {}) => {
  return { action: 'create', backend: 'claude-code', prompt, ...rest };
};

function recordingBudget() {
  const recorded: Spending[] = [];
  const budget = new Budget({}, undefined, (spending) => recorded.push(spending) > 0);
  return { recorded, budget };
}

describe('the cost of a delegated job [P14]', () => {
  it('is recorded for each attempt, and for the rest at its end', async () => {
    const { call } = toolOf(fakePrograms());
    const { recorded, budget } = recordingBudget();
    await call(create('fault spends-once'), budget);
    expect(recorded.map(({ who, provider, spent }) => [who, provider, spent])).toMatchObject([
      ['delegate', 'claude-code', { wasted: { inputTokens: 900 }, attempts: 1, usd: 0.3, answers: 0 }],
      ['delegate', 'claude-code', { usage: { inputTokens: 40 }, wasted: { inputTokens: 0 }, attempts: 1 }],
    ]);
    expect(recorded[1]?.spent.usd).toBeCloseTo(0.2, 9);
  });

  it('is recorded by a later call if its task ran in the background, also after a restart', async () => {
    const programs = fakePrograms();
    const { call, close } = toolOf(programs);
    const first = recordingBudget();
    await call(create('use look', { async: true }), first.budget);
    await vi.waitFor(() => expect(first.budget.usd).toBe(0.002), { timeout: 60_000 });
    await close();
    const later = recordingBudget();
    await toolOf(programs).call({ action: 'status', session_id: 'as-1' }, later.budget);
    expect(first.recorded).toEqual([]);
    expect(later.recorded.map(({ spent }) => spent.usd)).toEqual([0.002]);
    expect(later.budget.usd).toBe(0);
  });
});
