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

test('cobbler models shows the source and date of the prices', async () => {
  const io = fakeIo({ env: bareEnvironment() });
  expect(await models(io)).toBe(0);
  expect(io.stdout.text()).toMatch(/prices of \d{4}-\d\d-\d\d: https:\/\/platform\.claude\.com\//);
  expect(io.stdout.text()).toMatch(/prices of \d{4}-\d\d-\d\d: https:\/\/developers\.openai\.com\//);
});
