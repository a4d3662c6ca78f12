import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failsWith } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { doctor } from '../../src/commands/doctor.ts';
import { models } from '../../src/commands/models.ts';
import { checkNode } from '../../src/doctor/checkup.ts';
import type { Environment } from '../../src/terminal/io.ts';
import { fakeIo } from '../support/fake-io.ts';
import { claudeAt, mockService, says, testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function examine(env: Environment, options: Record<string, unknown> = {}) {
  const folder = temporaryFolder();
  const io = fakeIo({ env: { LANG: 'C.UTF-8', COBBLER_HOME: folder, ...env }, cwd: folder });
  const code = await doctor(options, io);
  const { stripVTControlCharacters } = await import('node:util');
  return { code, lines: stripVTControlCharacters(io.stdout.text()).trimEnd().split('\n'), folder };
}

describe('doctor', () => {
  test('reports a valid setup, with the ends of the key and its source', async () => {
    const { code, lines } = await examine({ ANTHROPIC_API_KEY: testKey });
    expect(code).toBe(0);
    expect(lines.length).toBeLessThanOrEqual(15);
    for (const line of lines) expect(line).toMatch(/^✓ /);
    expect(lines).toContain('✓ key            sk-ant-…ghij (ANTHROPIC_API_KEY)');
  });

  test('lists failures first, each with its fix', async () => {
    const { code, lines } = await examine({ ANTHROPIC_API_KEY: 'a b', ANTHROPIC_BASE_URL: 'nowhere' });
    expect(code).toBe(1);
    expect(lines[0]).toMatch(/^✗ key/);
    expect(lines[1]).toBe('  fix: copy the key again, then run: cobbler config set-key claude');
    expect(lines[2]).toMatch(/^✗ address +nowhere \(ANTHROPIC_BASE_URL\) is not an http or https URL/);
    expect(lines.slice(5).every((line) => line.startsWith('✓'))).toBe(true);
  });

  test('fails if other users can read a file with a key [P19]', async () => {
    const home = temporaryFolder();
    const file = join(home, 'config.yaml');
    writeFileSync(file, `keys:\n  claude: ${testKey}\n`);
    chmodSync(file, 0o640);
    const { code, lines } = await examine({ COBBLER_HOME: home });
    expect(code).toBe(1);
    expect(lines[1]).toBe(`  fix: chmod 600 ${file}`);
    chmodSync(file, 0o600);
    expect((await examine({ COBBLER_HOME: home })).code).toBe(0);
  });

  test('accepts a custom server without a key', async () => {
    const env = { COBBLER_MODEL: 'openai:qwen3', OPENAI_BASE_URL: 'http://localhost:11434/v1' };
    expect((await examine(env)).code).toBe(0);
    expect((await examine({ COBBLER_MODEL: 'openai:x' })).code).toBe(1);
  });

  test('sends a request to the model only with --live, and limits its tokens', async () => {
    const service = await mockService([says('ok')]);
    const env = claudeAt(service);
    await examine(env);
    expect(service.server.exchanges).toHaveLength(0);
    const { code, lines } = await examine(env, { live: true });
    expect(code).toBe(0);
    expect(lines.at(-1)).toMatch(/^✓ live +claude-test responded in /);
    expect(service.server.exchanges[0]?.request?.maxTokens).toBeLessThanOrEqual(16);
  });

  test('reports with --live that the service rejects the key', async () => {
    const service = await mockService([failsWith({ kind: 'auth', message: 'invalid x-api-key' })]);
    const { code, lines } = await examine(claudeAt(service), { live: true });
    expect(code).toBe(1);
    expect(lines[0]).toMatch(
      /^✗ live +401 from 127\.0\.0\.1:\d+: the key from ANTHROPIC_API_KEY was rejected\.$/,
    );
    expect(lines.join('\n')).not.toContain(testKey);
  });

  test('prints the same checks as JSON', async () => {
    const { code, lines } = await examine({}, { json: true });
    const report = JSON.parse(lines.join('\n'));
    expect([code, report.ok]).toEqual([1, false]);
    expect(report.checks.find((check: { name: string }) => check.name === 'key')).toMatchObject({
      ok: false,
    });
  });
});

test.each([
  ['24.21.0', true],
  ['22.18.0', true],
  ['22.17.9', false],
  ['20.20.2', false],
])('checkNode(%s) accepts the version: %s', (version, ok) => {
  expect(checkNode(version).ok).toBe(ok);
});

test('models shows the source of each key, marks the selected model and hides the keys', async () => {
  const io = fakeIo({ env: { COBBLER_HOME: temporaryFolder(), ANTHROPIC_API_KEY: testKey, NO_COLOR: '1' } });
  expect(await models({}, io)).toBe(0);
  const text = io.stdout.text();
  expect(text).toContain('claude  key from ANTHROPIC_API_KEY\n');
  expect(text).toContain('openai  no key: set OPENAI_API_KEY');
  expect(text).toContain('gemini  no key: set GEMINI_API_KEY');
  expect(text).toContain('-m claude:ID, -m openai:ID, -m gemini:ID');
  expect(text.split('\n').filter((line) => line.startsWith('* '))).toHaveLength(1);
  expect(text).toMatch(/^\* balanced +claude-\S+ .*\$ *\d+\.\d\d in/m);
  expect(text).not.toContain(testKey);
});
