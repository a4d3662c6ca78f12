import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Ended } from '../support/binary.ts';
import { cobbler } from '../support/binary.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

function chat(
  home: string,
  lines: readonly string[],
  env = {},
  args: readonly string[] = [],
): Promise<Ended> {
  const input = lines.map((line) => `${line}\n`).join('');
  const options = { env: { COBBLER_HOME: join(home, '.cobbler'), ...env }, cwd: home, input };
  return cobbler(['assistant', '--local', ...args], options);
}

describe('the assistant in a terminal with piped input [S3]', () => {
  test('announces its scripted model, remembers facts across starts and exits with 0', patience, async () => {
    const home = temporaryFolder();
    const first = await chat(home, ['Hello', 'My dog is called Bello.']);
    expect(first.code).toBe(0);
    expect(first.stderr.split('\n')[0]).toContain('scripted model');
    expect(first.stderr).toContain('not by meaning');
    const second = await chat(home, ['/memory', '/new', 'What is my dog called?', 'Who wrote Faust?']);
    expect([second.code, second.stdout]).toEqual([0, expect.stringContaining('- My dog is called Bello.')]);
    expect(second.stdout).toContain('From my notes: “My dog is called Bello”.');
    expect(second.stdout).toContain('I do not know that');
    expect(statSync(join(home, '.cobbler', 'assistant')).mode & 0o777).toBe(0o700);
  });

  test('shows buttons as numbered choices: /forget asks, 2 keeps, 1 deletes', patience, async () => {
    const home = temporaryFolder();
    const { code, stdout } = await chat(home, [
      'My dog is called Bello.',
      '/forget',
      '2',
      '/export',
      '/forget',
      '1',
      '/memory',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/1 {2}Delete everything\n {2}2 {2}Keep it/);
    expect(stdout).toContain('Nothing was deleted.');
    expect(stdout).toMatch(/Deleted: 2 messages and 1 memory\.[\s\S]*I do not remember anything/);
    expect(readFileSync(join(home, 'messages.jsonl'), 'utf8')).toContain('Bello');
  });

  test('uses a real model with -m, and numbered choices for tool approval', patience, async () => {
    const home = temporaryFolder();
    const service = await mockService([
      says('', ['write_file', { path: 'note.txt', content: 'milk\n' }]),
      says('Written.'),
    ]);
    const { COBBLER_MODEL: model, ...env } = claudeAt(service);
    const args = ['-m', model ?? '', '--tools', 'write_file'];
    const { code, stdout, stderr } = await chat(home, ['Note milk.', '1'], env, args);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('scripted')]);
    expect(stdout).toMatch(/May I use \*\*write_file\*\*[\s\S]*1 {2}Allow[\s\S]*✓ Allow[\s\S]*Written\./);
    expect(readFileSync(join(home, 'note.txt'), 'utf8')).toBe('milk\n');
  });
});

describe('the budget of the users of the assistant', () => {
  test('is that of the configuration, inside the chosen one', patience, async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, '.cobbler'));
    writeFileSync(
      join(home, '.cobbler', 'config.yaml'),
      'budgets: { all: { limits: { usd: 1 } } }\nuserBudget: { per: day, limits: { requests: 1 } }\n',
    );
    const service = await mockService([says('One.'), says('Two.')]);
    const { COBBLER_MODEL: _, ...env } = claudeAt(service);
    const args = ['-m', 'claude:balanced', '--budget', 'all', '--time-zone', 'Europe/Berlin'];
    const { code, stdout } = await chat(home, ['Hello.', 'More.'], env, args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/One\.[\s\S]*the budget for my answers is used up[\s\S]* at 00:00\./);
    expect(service.server.exchanges).toHaveLength(1);
    const listed = await cobbler(['budgets', '--json'], {
      env: { COBBLER_HOME: join(home, '.cobbler') },
      cwd: home,
    });
    expect(JSON.parse(listed.stdout).items).toMatchObject([
      { definition: { name: 'all' }, settled: { requests: 1 } },
      {
        definition: {
          name: expect.stringMatching(/^assistant:user:/),
          parent: 'all',
          timeZone: 'Europe/Berlin',
        },
        settled: { requests: 1 },
      },
    ]);
  });
});
