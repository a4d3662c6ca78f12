import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runPage } from '../e2e/docs/src/page-run.ts';
import type { Plan } from '../e2e/docs/src/plan.ts';

describe.skipIf(!existsSync('/proc/self/environ'))('running the commands of a page (needs /proc)', () => {
  test('uses one shell, and reports errors, unexpected output and processes left running', async () => {
    const typed = [
      'A=1; cd sub',
      'echo "$A in ${PWD##*/}"',
      '(exit 3)',
      'sleep 60 >/dev/null 2>&1 &',
      'echo no',
      'never',
    ];
    const outcomes = await followed(typed, [
      { command: /^echo "/, prints: /^1 in sub$/m },
      { command: 'echo no', prints: /yes/ },
      { command: 'never', apart: 'no reason' },
    ]);
    expect(outcomes.map(({ verdict, why }) => `${verdict} ${why ?? ''}`.trim())).toEqual([
      'passed',
      'passed',
      'failed exit code 3:',
      'passed',
      'failed unexpected output: no',
      'apart no reason',
      expect.stringMatching(/^failed after the page: still running: \d+ .*sleep 60/),
    ]);
  });

  test('stops a server at the end with Ctrl-C, and fails if it exits with an error', async () => {
    const server = (end: string) => `bash -c 'trap "${end}" INT; echo ready; while :; do sleep 0.1; done'`;
    const plan = [{ command: /ready/, way: 'server', prints: /ready/ }] as const;
    const ends = await followed([server('exit 0'), 'true'], plan);
    expect(ends.map(({ verdict }) => verdict)).toEqual(['passed', 'passed']);
    const fails = await followed([server('exit 7'), 'true'], plan);
    expect(fails.map(({ why }) => why)).toEqual([
      undefined,
      undefined,
      expect.stringContaining('exit code 7'),
    ]);
  });

  test('keeps a server with `stays` running while others start, and ends all servers', async () => {
    const server = (name: string) =>
      `bash -c 'trap "rm ${name}; exit 0" INT; touch ${name}; echo ready; while :; do sleep 0.1; done'`;
    const serves = { way: 'server', prints: /ready/ } as const;
    const commands = [
      { command: /touch stays/, ...serves, stays: true },
      { command: /touch own/, ...serves },
      { command: /^ls/, prints: /own\n(.*\n)*stays/ },
      { command: 'true', after: '! [ -e own ] && [ -e stays ]' },
      { command: /touch next/, ...serves },
    ] as const;
    const steps = [server('stays'), server('own'), 'ls', server('next'), 'true'];
    const outcomes = await followed(steps, commands);
    expect(outcomes.map(({ why }) => why)).toEqual(steps.map(() => undefined));
  });
});

/** Runs these commands as a page, in a new temporary directory. */
async function followed(typed: readonly string[], commands: readonly Plan[]) {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-docs-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'cwd'), folder);
  const env = { PATH: process.env['PATH'] ?? '' };
  const place = { home: folder, project: folder, notes: folder, env };
  const plans = { fill: [], pages: [], commands };
  const means = {
    plans,
    place,
    clone: '/none',
    port: 0,
    env: {},
    keys: {},
    known: new Set<string>(),
    tell: () => {},
  };
  const steps = typed.map((text, index) => ({ page: 'a.md', line: index + 1, text, isInline: false }));
  return await runPage('a.md', steps, means);
}
