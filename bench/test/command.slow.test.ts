import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Report } from '../src/report.ts';
import { reportText } from '../src/report.ts';
import type { Sample } from '../src/round.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cobbler-bench-test-'));
const good = join(folder, 'good.json');
const bad = join(folder, 'bad.json');

beforeAll(() => {
  writeFileSync(good, reportText(report(9)));
  writeFileSync(bad, reportText(report(25)));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns a report with one round of s20k, in which the floor takes 10 ms. */
function report(cpuMs: number): Report {
  const sample = (entrant: Sample['entrant'], cpu: number): Sample => ({
    work: 's20k',
    round: 1,
    entrant,
    cost: { cpuMs: cpu, wallMs: cpu, peakBytes: 5e7 },
    requests: 1,
    sentBytes: 500,
  });
  const about = { node: '24.0.0', cores: 2, day: '2026-11-21', rounds: 1, sizes: [], reached: [] };
  return { ...about, samples: [sample('floor', 10), sample('cobbler', cpuMs)] };
}

function bench(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args]);
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...said })));
}

test.each(['--help', '-h'])('%s explains every option and exits with 0', async (flag) => {
  const { code, stdout, stderr } = await bench(flag);
  expect([code, stderr]).toEqual([0, '']);
  for (const option of [
    'works',
    'rounds',
    'peers',
    'json',
    'from',
    'write',
    'no-strict',
    'no-build',
    'profile',
  ]) {
    expect(stdout).toContain(`--${option}`);
  }
});

test('an invalid option exits with 2 and points to --help', async () => {
  const { code, stderr } = await bench('--wroks', 't50');
  expect([code, stderr]).toEqual([2, expect.stringMatching(/--wroks[\s\S]*--help/)]);
});

test('a budget that is not met makes the command exit with 1 and is reported; with --no-strict it is only reported', async () => {
  const missed = await bench('--from', bad);
  expect(missed.code).toBe(1);
  expect(missed.stdout).toContain(
    '1 of 1 budgets were not met: s20k, cobbler: 2.50 x floor, but the budget is <= 1 x floor.',
  );
  const lenient = await bench('--from', bad, '--no-strict');
  expect([lenient.code, lenient.stdout]).toEqual([0, missed.stdout]);
  expect(await bench('--from', good)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('All 1 budgets were met.'),
  });
});

test('--write puts the table into a page, and does not change a page without marks', async () => {
  const page = join(folder, 'page.md');
  const marks = [
    '<!-- Written by npm run bench -- --write; changes are lost. -->',
    '<!-- End of what is written. -->',
  ];
  writeFileSync(page, `# Before\n\n${marks.join('\n')}\n\nAfter.\n`);
  expect((await bench('--from', good, '--write', page)).code).toBe(0);
  const written = readFileSync(page, 'utf8');
  expect(written).toMatch(
    /^# Before\n\n<!--.*-->\n\n2026-11-21, Node 24\.0\.0[\s\S]*\| s20k \| floor \|[\s\S]*-->\n\nAfter\.\n$/,
  );
  expect((await bench('--from', good, '--write', page)).code).toBe(0);
  expect(readFileSync(page, 'utf8')).toBe(written);
  writeFileSync(page, '# Without\n');
  expect(await bench('--from', good, '--write', page)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no marks for the table'),
  });
  expect(readFileSync(page, 'utf8')).toBe('# Without\n');
});
