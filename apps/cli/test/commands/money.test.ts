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

/** Asks a model once, which counts 10,000 tokens in and 1,000 out, and gives what is told about money. */
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

describe('what a run costs', () => {
  test.each([
    ['fast', 'claude-haiku-5-5', '0.002'],
    ['balanced', 'claude-sonnet-5-5', '0.030'],
    ['best', 'claude-opus-5-5', '0.060'],
  ])('%s has a price of our own', async (alias, id, usd) => {
    expect((await asked(alias, { answers: id })).usd).toBe(usd);
  });

  test('is what the configuration says, by id, by alias, and for a dated name', async () => {
    const price = '{ input: 100, output: 0 }';
    for (const name of ['claude-sonnet-5-5', 'balanced']) {
      const config = `prices:\n  ${name}: ${price}\n`;
      expect((await asked('balanced', { config, answers: 'claude-sonnet-5-5' })).usd).toBe('1.00');
      expect((await asked('balanced', { config, answers: 'claude-sonnet-5-5-20261001' })).usd).toBe('1.00');
    }
  });

  test('is not told where nobody knows the price', async () => {
    expect(await asked('claude-test', {})).toMatchObject({ code: 0, usd: undefined, requests: 1 });
  });
});

describe('a limit on money', () => {
  test('is refused where the price is unknown, before anything is sent', async () => {
    const end = await asked('claude-test', { flags: ['--max-usd', '1'] });
    expect(end).toMatchObject({ code: 2, requests: 0 });
    expect(end.stderr).toContain('The price of claude-test is unknown');
    expect(end.stderr).toContain('--allow-unpriced');
  });

  test('holds no unknown price back where that is allowed', async () => {
    expect(await asked('claude-test', { flags: ['--max-usd', '1', '--allow-unpriced'] })).toMatchObject({
      code: 0,
      requests: 1,
    });
  });

  test('that leaves no room for one request sends none', async () => {
    const end = await asked('best', { flags: ['--max-usd', '0.001'], answers: 'claude-opus-5-5' });
    expect(end).toMatchObject({ code: 3, requests: 0 });
  });

  test('counts what is written for an hour as the configuration prices it, which must be numbers', async () => {
    const wrong = await asked('fast', {
      config: 'prices:\n  m: { input: 1, output: 1, cacheWriteLong: dear }\n',
    }).catch(String);
    expect(wrong).toContain('cacheWriteLong');
    const right =
      'prices:\n  claude-haiku-5-5: { input: 1, output: 0, cacheWrite: 1.25, cacheWriteLong: 2 }\n';
    expect((await asked('fast', { config: right, answers: 'claude-haiku-5-5' })).usd).toBe('0.010');
  });
});

test('cobbler models says where each price stands and when it was read', async () => {
  const io = fakeIo({ env: bareEnvironment() });
  expect(await models(io)).toBe(0);
  expect(io.stdout.text()).toMatch(/prices of \d{4}-\d\d-\d\d: https:\/\/platform\.claude\.com\//);
  expect(io.stdout.text()).toMatch(/prices of \d{4}-\d\d-\d\d: https:\/\/developers\.openai\.com\//);
});
