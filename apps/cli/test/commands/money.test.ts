import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replies, scriptResponse } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { models } from '../../src/commands/models.ts';
import { bareEnvironment } from '../support/binary.ts';
import { fakeIo } from '../support/fake-io.ts';
import { invoke } from '../support/in-process.ts';
import { claudeAt, mockService } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Runs one request of 10,000 input and 1,000 output tokens, and returns the reported cost. */
async function asked(model: string, given: { flags?: readonly string[]; config?: string; answers?: string }) {
  const { flags = [], config = '', answers = model } = given;
  const usage = { inputTokens: 10_000, outputTokens: 1_000, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const service = await mockService([replies(scriptResponse(['Done.'], { model: answers, usage }))]);
  const cwd = temporaryFolder();
  const home = join(cwd, 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'config.yaml'), config);
  const env = { ...claudeAt(service), COBBLER_HOME: home };
  const end = await invoke(['Say it.', '-m', `claude:${model}`, ...flags], { env, cwd });
  const usd = /\$(\d+\.\d+)/.exec(end.stderr)?.[1];
  return { ...end, usd, requests: service.server.exchanges.length };
}

describe('the cost of a run', () => {
  test.each([
    ['fast', 'claude-haiku-5-5', '0.002'],
    ['balanced', 'claude-sonnet-5-5', '0.030'],
    ['best', 'claude-opus-5-5', '0.060'],
  ])('uses a built-in price for %s', async (alias, id, usd) => {
    expect((await asked(alias, { answers: id })).usd).toBe(usd);
  });

  test('uses configured prices by id, by alias and for a dated model name', async () => {
    const price = '{ input: 100, output: 0 }';
    for (const name of ['claude-sonnet-5-5', 'balanced']) {
      const config = `prices:\n  ${name}: ${price}\n`;
      expect((await asked('balanced', { config, answers: 'claude-sonnet-5-5' })).usd).toBe('1.00');
      expect((await asked('balanced', { config, answers: 'claude-sonnet-5-5-20261001' })).usd).toBe('1.00');
    }
  });

  test('is not shown when the price is unknown', async () => {
    expect(await asked('claude-test', {})).toMatchObject({ code: 0, usd: undefined, requests: 1 });
  });
});

describe('a money limit', () => {
  test('is rejected before any request when the price is unknown', async () => {
    const end = await asked('claude-test', { flags: ['--max-usd', '1'] });
    expect(end).toMatchObject({ code: 2, requests: 0 });
    expect(end.stderr).toContain('The price of claude-test is unknown');
    expect(end.stderr).toContain('--allow-unpriced');
  });

  test('allows an unknown price with --allow-unpriced', async () => {
    expect(await asked('claude-test', { flags: ['--max-usd', '1', '--allow-unpriced'] })).toMatchObject({
      code: 0,
      requests: 1,
    });
  });

  test('sends no request when it is too low for one', async () => {
    const end = await asked('best', { flags: ['--max-usd', '0.001'], answers: 'claude-opus-5-5' });
    expect(end).toMatchObject({ code: 3, requests: 0 });
  });

  test('counts one-hour cache writes at the configured price, which must be a number', async () => {
    const wrong = await asked('fast', {
      config: 'prices:\n  m: { input: 1, output: 1, cacheWriteLong: dear }\n',
    }).catch(String);
    expect(wrong).toContain('cacheWriteLong');
    const right =
      'prices:\n  claude-haiku-5-5: { input: 1, output: 0, cacheWrite: 1.25, cacheWriteLong: 2 }\n';
    expect((await asked('fast', { config: right, answers: 'claude-haiku-5-5' })).usd).toBe('0.010');
  });
});

describe('cobbler models --prices', () => {
  const day = Date.parse('2026-12-01T12:00:00Z');

  async function printed(options: Readonly<Record<string, unknown>>, config = ''): Promise<string> {
    const home = temporaryFolder();
    writeFileSync(join(home, 'config.yaml'), config);
    const io = fakeIo({ env: { ...bareEnvironment(), COBBLER_HOME: home } });
    expect(await models(options, io, day)).toBe(0);
    return io.stdout.text();
  }

  test('shows every price with its source, its date and the age of the oldest', async () => {
    const text = await printed({ prices: true });
    const lines = text.split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(100);
    expect(lines).toContain(
      '  claude-haiku-5-5             0.10       0.50       0.01      0.125       0.20   x0.5  2026-10-24',
    );
    expect(text).toMatch(/^ {4}over 100,000 in +0\.50 +2\.50 +0\.05 +0\.625 +1\.00$/m);
    expect(text).toMatch(/^ {2}from https:\/\/platform\.claude\.com\//m);
    expect(text).toMatch(/^ {2}from https:\/\/developers\.openai\.com\//m);
    expect(text).toMatch(/^ {2}gpt-6\.2-astra .* unknown +x0\.5 {2}2026-11-18$/m);
    expect(text).toContain('The oldest built-in price is 133 days old (2026-07-21).');
  });

  test('prefers the prices of the configuration, and lists those of other models', async () => {
    const long = 'longPrompt: { overInputTokens: 5000, price: { input: 3, output: 4 } }';
    const config = `prices:\n  claude/fast: { input: 1, output: 2, ${long} }\n  my-model: { input: 0, output: 0.001 }\n`;
    const text = await printed({ prices: true }, config);
    expect(text).toMatch(/^ {2}claude-haiku-5-5 +1\.00 +2\.00 +unknown +unknown +unknown +config$/m);
    expect(text).toMatch(/^ {4}over 5,000 in +3\.00 +4\.00 +unknown/m);
    expect(text).toMatch(/^ {2}my-model +0\.00 +0\.001 +unknown/m);
    expect(text).toMatch(/^ {2}from \S+config\.yaml:1$/m);
  });

  test('prints JSON, with null for what is unknown', async () => {
    const { unit, oldest, prices } = JSON.parse(
      await printed({ json: true }, 'prices:\n  m: { input: 1, output: 2 }\n'),
    );
    expect([unit, oldest]).toEqual(['US dollars per million tokens', { on: '2026-07-21', days: 133 }]);
    expect(prices).toContainEqual({
      model: 'm',
      price: { input: 1, output: 2, cacheRead: null, cacheWrite: null, cacheWriteLong: null },
      source: { from: expect.stringMatching(/config\.yaml:1$/) },
    });
    expect(prices.find(({ model }: { model: string }) => model === 'claude-sonnet-5-5')).toEqual({
      provider: 'claude',
      model: 'claude-sonnet-5-5',
      alias: 'balanced',
      price: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5, cacheWriteLong: 4 },
      batch: 0.5,
      source: { from: expect.stringContaining('platform.claude.com'), on: '2026-10-24' },
    });
  });
});
