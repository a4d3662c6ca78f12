import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cobblerHome, loadConfig, parseConfig } from '../../src/node/config-file.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cobbler-config-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const long = (value: string) => `{ input: 1, output: 1, longPrompt: ${value} }`;

describe('loadConfig', () => {
  it('reads config.yaml from the .cobbler directory in the home directory [S0.30]', async () => {
    expect(cobblerHome({ HOME: '/home/someone' })).toBe('/home/someone/.cobbler');
    expect(cobblerHome({ HOME: '/home/someone', COBBLER_HOME: '/elsewhere' })).toBe('/elsewhere');
    writeFileSync(join(home, 'config.yaml'), 'provider: openai\nmodel: fast\nmaxTokens: 100\n');
    const loaded = await loadConfig({ env: { COBBLER_HOME: home } });
    expect(loaded.values).toEqual({ provider: 'openai', model: 'fast', maxTokens: 100 });
    expect(loaded.lines).toEqual({ provider: 1, model: 2, maxTokens: 3 });
  });

  it('treats a missing file as an empty configuration and returns its path [S0.30]', async () => {
    expect(await loadConfig({ home })).toEqual({
      values: {},
      path: join(home, 'config.yaml'),
      exists: false,
      lines: {},
    });
  });

  it.each([
    ['model: [a', 'config.yaml:1: '],
    ['# hello\nmodle: fast', 'config.yaml:2: there is no setting named "modle"'],
    ['model: 5', 'config.yaml:1: "model" must be a string'],
    ['provider: claude\nmaxTokens: -3', 'config.yaml:2: "maxTokens" must be a whole number'],
    ['baseURL: ftp://x', 'config.yaml:1: "baseURL" must be an http or https URL'],
    ['- a\n- b', 'config.yaml:1: the file must contain settings'],
    ['model: a\nmodel: b', 'config.yaml:2: '],
    ['prices:\n  m: {input: 1}', '"prices" entry "m" must have numbers for "input" and "output"'],
    ['prices:\n  m: {input: .inf, output: 1}', 'entry "m" must have numbers for "input" and "output"'],
    ['prices:\n  m: {input: 1, output: 1, cacheRead: -1}', 'entry "m" must have a number for "cacheRead"'],
    ['prices:\n  a/m: {input: 1, output: 1, on: 1}', 'entry "a/m" has an unknown field "on"'],
    [`prices:\n  m: ${long('{ overInputTokens: 1.5, price: {} }')}`, 'must have "overInputTokens"'],
    [`prices:\n  m: ${long('{ overInputTokens: 5, price: {}, on: 1 }')}`, 'must have "overInputTokens"'],
    [`prices:\n  m: ${long('{ overInputTokens: 5, price: { input: 1 } }')}`, '"output" in longPrompt.price'],
    [`prices:\n  m: ${long('{ overInputTokens: 5 }')}`, 'per million tokens in longPrompt.price'],
    ['keys: secret', '"keys" must map providers to their keys'],
    ['allowHosts: [10.0.0.1]', '"allowHosts" must be a list of hosts: HOST, HOST:PORT or *.HOST'],
    ['__proto__: 1', 'there is no setting named "__proto__"'],
  ])('rejects %j with file and line', async (text, expected) => {
    await expect(parseConfig(text, 'config.yaml')).rejects.toThrowError(expected);
  });

  it('never repeats a value in an error, because it may be a key [P19]', async () => {
    await expect(parseConfig('apiKey: [sk-secret-1]', 'config.yaml')).rejects.toThrowError(
      /^config.yaml:1: "apiKey" must be a string.$/,
    );
    await expect(parseConfig('keys: {claude: {k: sk-secret-1}}', 'config.yaml')).rejects.toThrowError(
      /^(?!.*secret)/,
    );
    await expect(parseConfig('apiKey: "sk-secret-1', 'config.yaml')).rejects.toThrowError(/^(?!.*secret)/);
  });
});
