import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cobbler } from '../support/in-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const original = fileURLToPath(new URL('../../demo/', import.meta.url));
const patience = { timeout: 120_000 };

/** Creates a copy of the demo project with the given changes. */
function project(...changes: readonly (readonly [file: string, from: string, to: string])[]): string {
  const folder = temporaryFolder();
  cpSync(original, folder, { recursive: true });
  for (const [file, from, to] of changes) {
    const text = readFileSync(join(folder, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`);
    writeFileSync(join(folder, file), text.replace(from, to));
  }
  return folder;
}

const repair = ['src/ticket.js', 'prices[job.kind]', 'prices[job.kind] * job.count'] as const;
const secondBug = ['src/format.js', "padStart(2, '0')", "padStart(3, '0')"] as const;

describe('the demo', () => {
  test('repairs a project without a key, and says that the model is scripted', patience, async () => {
    const end = await cobbler(['demo']);
    expect(end.code, end.stderr).toBe(0);
    expect(end.stdout).toMatch(/^\*\*Done\.\*\* All 4 tests pass\.\n/);
    expect(end.stderr).toMatch(/^The model in this demo is scripted/);
    expect(end.stderr).toMatch(/tool run_command node --test failed exit 1/);
    expect(end.stderr).toContain('  6 +   for (const job of jobs) cents += prices[job.kind] * job.count;\n');
    expect(end.stderr).toMatch(/tool run_command node --test ok exit 0/);
    expect(end.stderr).toMatch(/\ncomplete {2}5 turns · 6 tools · .* in \(\d+% cached\) \d+ out/);
    expect(end.stderr).toContain('1 file changed: src/ticket.js +1 -1');
    expect(end.stderr).toContain('export ANTHROPIC_API_KEY=');
    expect(end.stdout + end.stderr).not.toContain('\x1b');
    const folder = /cobbler demo -C (\S+)/.exec(end.stderr)?.[1] ?? '';
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    expect(readFileSync(join(folder, 'src/ticket.js'), 'utf8')).toContain('* job.count');
  });

  test('finds nothing to fix and changes nothing if the bug is already fixed', patience, async () => {
    const folder = project(repair);
    const end = await cobbler(['demo', '-C', folder]);
    expect(end.code, end.stderr).toBe(0);
    expect(end.stdout).toMatch(/^\*\*Nothing to fix\.\*\* All 4 tests already pass/);
    expect(end.stderr).not.toContain('edit_file');
    expect(end.stderr).not.toContain('file changed');
  });

  test('fixes the bug that it knows and reports that a second one remains', patience, async () => {
    const folder = project(secondBug);
    const end = await cobbler(['demo', '-C', folder]);
    expect(end.code, end.stderr).toBe(0);
    expect(end.stdout).toMatch(
      /^\*\*Partly fixed\.\*\* Now passing: `a pair of heels .*`\. Still failing: `cents are written .*`\./,
    );
    expect(readFileSync(join(folder, 'src/ticket.js'), 'utf8')).toContain('* job.count');
  });

  test('reports that it did not fix an unknown bug', patience, async () => {
    const end = await cobbler(['demo', '-C', project(repair, secondBug)]);
    expect(end.code, end.stderr).toBe(0);
    expect(end.stdout).toMatch(/^\*\*Not fixed\.\*\*/);
  });

  test('prints one event per line with --json', patience, async () => {
    const end = await cobbler(['demo', '--json', '-C', project()]);
    const types = end.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect([types[0], types.at(-1), end.stderr]).toEqual(['started', 'finished', '']);
  });

  test('needs no home, no remote network and no key', patience, async () => {
    const closed = 'http://127.0.0.1:9';
    const env = {
      HOME: '',
      HTTPS_PROXY: closed,
      https_proxy: closed,
      COBBLER_MODEL: 'openai:x',
      ANTHROPIC_BASE_URL: closed,
    };
    const end = await cobbler(['demo', '-C', project()], { env });
    expect(end.code, end.stderr).toBe(0);
  });
});
