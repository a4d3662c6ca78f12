import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MockReply, ScriptBlock } from '@cobbler/agent/testing';
import { replies, responseSteps, scriptResponse } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { cobbler } from '../support/binary.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

/** Returns a response that stalls in the middle of its text. */
function halfAnswer(text: string): MockReply {
  const answer = scriptResponse([text], { model: 'claude-test' });
  const steps = responseSteps(answer).filter((step) => step.type === 'open' || step.type === 'delta');
  return replies(answer, { steps, ending: 'stall' });
}

/** Runs a task with `--json=deltas`, and sends a signal when the output contains a text. */
async function interrupted(
  service: Awaited<ReturnType<typeof mockService>>,
  until: string,
  signal: NodeJS.Signals,
) {
  let seen = '';
  let sentAt: number | undefined;
  const cwd = temporaryFolder();
  const end = await cobbler(['--json=deltas', '--yes', 'go'], {
    env: claudeAt(service),
    cwd,
    onOutput: (text, child) => {
      seen += text;
      if (sentAt !== undefined || !seen.includes(until)) return;
      sentAt = performance.now();
      child.kill(signal);
    },
  });
  return { ...end, cwd, tookMs: performance.now() - (sentAt ?? 0) };
}

describe('a signal', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s cancels the run with exit code 130 and the status cancelled',
    patience,
    async (signal) => {
      const service = await mockService([halfAnswer('half of an answer')]);
      const end = await interrupted(service, 'nswer"', signal);
      expect([end.code, end.signal]).toEqual([130, null]);
      const last = JSON.parse(end.stdout.trimEnd().split('\n').at(-1) ?? '');
      expect(last).toMatchObject({ type: 'finished', status: 'cancelled' });
      await service.server.exchanges[0]?.left;
    },
  );

  test('during a command ends the command too', patience, async () => {
    const command = 'echo $$ > pid; trap "" TERM; echo ready; sleep 60; sleep 60';
    const service = await mockService([says('', ['run_command', { command }])]);
    const end = await interrupted(service, '"ready"', 'SIGINT');
    expect(end.code).toBe(130);
    // Without the signal, the command would take two minutes.
    expect(end.tookMs).toBeLessThan(30_000);
    const pid = Number(readFileSync(join(end.cwd, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

test('a cancelled run prints a summary and the partial response', patience, async () => {
  const blocks: ScriptBlock[] = [
    { type: 'text', text: 'half of an answer' },
    { type: 'reasoning', text: 'Let me think.', seal: 'seal' },
  ];
  const answer = scriptResponse(blocks, { model: 'claude-test' });
  const steps = responseSteps(answer).filter((step) => step.type !== 'end');
  const service = await mockService([replies(answer, { steps, ending: 'stall' })]);
  let seen = '';
  const end = await cobbler(['-v', 'go'], {
    env: claudeAt(service),
    cwd: temporaryFolder(),
    onOutput: (text, child) => {
      const isThere = seen.includes('Let me think.');
      seen += text;
      if (!isThere && seen.includes('Let me think.')) child.kill('SIGINT');
    },
  });
  expect(end).toMatchObject({ code: 130, stdout: 'half of an answer\n' });
  expect(end.stderr).toMatch(/Let me think\.\n— cancelled\ncancelled {2}0 turns · 0 tools/);
});

test('a closed output pipe ends the run with 0 and without an error message', patience, async () => {
  const service = await mockService([says('Looking.', ['list_files', {}]), halfAnswer('x')]);
  const end = await cobbler(['--json', 'go'], {
    env: claudeAt(service),
    cwd: temporaryFolder(),
    onOutput: (_, child) => child.stdout?.destroy(),
  });
  expect([end.code, end.stderr]).toEqual([0, '']);
});
