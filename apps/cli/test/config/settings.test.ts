import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveAgent } from '@cobbler/agent/config';
import type { FactoryConfig } from '@cobbler/agent/provider';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { makeAgent } from '../../src/config/make-agent.ts';
import { hostOf, keyOf, maskedKey, readSettings } from '../../src/config/settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function homeWith(config: string): { COBBLER_HOME: string; file: string } {
  const home = temporaryFolder();
  const file = join(home, 'config.yaml');
  writeFileSync(file, config);
  return { COBBLER_HOME: home, file };
}

describe('the model selection', () => {
  test('defaults to the balanced model of Claude [S0.28]', async () => {
    const settings = await readSettings({ COBBLER_HOME: temporaryFolder() });
    expect(settings.provider).toEqual({ value: 'claude', source: 'default' });
    expect(settings.model).toEqual({ value: 'balanced', source: 'default' });
  });

  test('prefers the flag to the environment, and the environment to the file, each with its source', async () => {
    const { file, ...env } = homeWith('provider: openai\nmodel: from-file\n');
    expect((await readSettings(env)).model).toEqual({ value: 'from-file', source: `${file}:2` });
    expect((await readSettings(env)).provider).toEqual({ value: 'openai', source: `${file}:1` });
    const withVariable = { ...env, COBBLER_MODEL: 'from-variable' };
    expect((await readSettings(withVariable)).model).toEqual({
      value: 'from-variable',
      source: 'COBBLER_MODEL',
    });
    expect((await readSettings(withVariable, { model: 'from-flag' })).model.source).toBe('-m');
  });

  test.each([
    ['openai:gpt-x', 'openai', 'gpt-x'],
    ['openai/gpt-x', 'openai', 'gpt-x'],
    ['openai', 'openai', 'balanced'],
    ['claude:best', 'claude', 'best'],
    ['gpt-6-luna', 'openai', 'gpt-6-luna'],
    ['claude-opus-5', 'claude', 'claude-opus-5'],
    ['gemini:best', 'gemini', 'best'],
    ['gemini-4-neon', 'gemini', 'gemini-4-neon'],
    ['qwen3:8b', 'claude', 'qwen3:8b'],
  ])('reads -m %s as provider %s with model %s', async (model, provider, id) => {
    const settings = await readSettings({ COBBLER_HOME: temporaryFolder() }, { model });
    expect([settings.provider.value, settings.model.value]).toEqual([provider, id]);
  });

  test('takes the effort from the option, then from the file, and rejects a model without one', async () => {
    const { file: _, ...env } = homeWith('effort: high\n');
    const making = async (flags: Parameters<typeof readSettings>[1]) =>
      await makeAgent(await readSettings({ ...env, ANTHROPIC_API_KEY: 'k' }, flags));
    await making({ model: 'balanced', effort: 'max' });
    await expect(making({ model: 'claude-haiku-4-5' })).rejects.toThrow(
      'claude-haiku-4-5 does not support the effort option.',
    );
    await expect(readSettings(homeWith('effort: huge\n'))).rejects.toThrow(
      '"effort" must be low, medium, high or max',
    );
  });

  test('takes the search from the option or the file, and rejects an API without one', async () => {
    const { file: _, ...env } = homeWith('search: true\n');
    const making = async (flags: Parameters<typeof readSettings>[1], home = env) =>
      await makeAgent(await readSettings({ ...home, ANTHROPIC_API_KEY: 'k' }, flags));
    const chat = { model: 'openai:qwen3', baseURL: 'http://localhost:1/v1' };
    await making({ model: 'balanced', search: true });
    await expect(making(chat)).rejects.toMatchObject({ code: 'unsupported' });
    const { file: __, ...plain } = homeWith('effort: high\n');
    await expect(making({ ...chat, search: true }, plain)).rejects.toMatchObject({ code: 'unsupported' });
    await expect(readSettings(homeWith('search: yes please\n'))).rejects.toThrow(
      '"search" must be true or false',
    );
  });

  describe('a model name', () => {
    const key = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' };
    const making = async (model: string, more: Record<string, string> = {}) => {
      const env = { COBBLER_HOME: temporaryFolder(), ...key, ...more };
      return (await makeAgent(await readSettings(env, { model }))).agent.model;
    };

    test.each([
      ['balancd', 'The model "balancd" (-m) is unknown. Did you mean balanced?'],
      ['claude:balancd', 'The model "balancd" (-m) is unknown. Did you mean balanced?'],
      ['mistral:pro', 'The model "mistral:pro" (-m) is unknown. Unknown provider "mistral".'],
      ['qwen3:8b', 'The model "qwen3:8b" (-m) is unknown. Unknown provider "qwen3".'],
      ['opus', 'The model "opus" (-m) is unknown.'],
      ['cluade-opus-5-5', 'The model "cluade-opus-5-5" (-m) is unknown. Did you mean claude-opus-5-5?'],
    ])('is rejected: -m %s', async (model, words) => {
      await expect(making(model)).rejects.toMatchObject({ code: 'unknown_model', message: words });
    });

    test('is rejected from the environment too, with its source', async () => {
      const env = { COBBLER_HOME: temporaryFolder(), ...key, COBBLER_MODEL: 'bets' };
      await expect(makeAgent(await readSettings(env))).rejects.toThrow(
        'The model "bets" (COBBLER_MODEL) is unknown. Did you mean best?',
      );
    });

    test.each([
      'fast',
      'claude-next-9',
      'gpt-9-nova',
      'o5-mini',
      'chatgpt-latest',
      'ft:gpt-9:me::1',
      'claude:something-new',
      'openai:something-new',
    ])('is accepted: -m %s', async (model) => {
      expect(await making(model)).not.toBe('');
    });

    test('can be any name for a custom server', async () => {
      const name = 'qwen3:8b';
      expect(await making(name, { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' })).toBe(name);
    });
  });

  test('rejects a misspelled provider name', async () => {
    await expect(readSettings({ COBBLER_HOME: temporaryFolder() }, { model: 'opnai:gpt-x' })).rejects.toThrow(
      /Did you mean openai:gpt-x/,
    );
  });

  test.each(['GEMINI_API_KEY', 'GOOGLE_API_KEY'])(
    'finds the key for Gemini in %s [S0.2]',
    async (variable) => {
      const { file, ...home } = homeWith('keys:\n  gemini: stored\n');
      const env = { ...home, [variable]: 'k' };
      const settings = await readSettings({ COBBLER_HOME: temporaryFolder(), [variable]: 'k' });
      expect(settings.provider).toEqual({ value: 'gemini', source: 'the only key' });
      expect((await makeAgent(settings)).agent.model).toBe('gemini-4-hydrogen');
      expect(keyOf(await readSettings(env), 'gemini', env)).toEqual({ value: 'k', source: variable });
      // The stored key does not override the variable.
      expect((await readSettings(env)).env).toMatchObject({ [variable]: 'k' });
      expect((await readSettings(env)).env['GEMINI_API_KEY']).not.toBe('stored');
      expect(keyOf(await readSettings(home), 'gemini', home)).toEqual({
        value: 'stored',
        source: `keys.gemini in ${file}`,
      });
    },
  );

  test('names the variable of the provider that has no key', async () => {
    const settings = await readSettings({ COBBLER_HOME: temporaryFolder() }, { model: 'gemini' });
    await expect(makeAgent(settings)).rejects.toThrow(
      'There is no key for Gemini: GEMINI_API_KEY is not set',
    );
  });

  test('uses the only provider that has a key', async () => {
    const settings = await readSettings({ COBBLER_HOME: temporaryFolder(), OPENAI_API_KEY: 'k' });
    expect(settings.provider).toEqual({ value: 'openai', source: 'the only key' });
    const both = await readSettings({
      COBBLER_HOME: temporaryFolder(),
      OPENAI_API_KEY: 'k',
      ANTHROPIC_API_KEY: 'k',
    });
    expect(both.provider.value).toBe('claude');
  });

  test('does not use the configured address and model for another provider [S0.29]', async () => {
    const { file: _, ...env } = homeWith(
      'provider: claude\nbaseURL: https://proxy.example\nmodel: my-model\n',
    );
    const settings = await readSettings(env, { model: 'openai:gpt-x' });
    expect(settings.baseURL).toBeUndefined();
    expect(settings.model.value).toBe('gpt-x');
  });
});

describe('keys', () => {
  /** Returns the key of a provider, and the key that an agent of it gets. */
  const keysOf = async (provider: string, env: Record<string, string>) => {
    const settings = await readSettings(env, { model: `${provider}:x` });
    let used: unknown;
    const factory = (config: FactoryConfig) => {
      used = config.apiKey ?? config.env?.[provider === 'openai' ? 'OPENAI_API_KEY' : 'ANTHROPIC_API_KEY'];
      return scriptedAgent([]);
    };
    const { env: filled, chosen, file } = settings;
    resolveAgent(file.values, { claude: factory, openai: factory }, filled, chosen);
    return { ...keyOf(settings, provider, env), used };
  };

  test('come from apiKey in the file, COBBLER_AGENT_API_KEY, the provider’s variable or the stored keys, in this order', async () => {
    const { file: stored, ...env } = homeWith('keys:\n  claude: stored-key\n');
    const found = (value: string, source: string) => ({ value, source, used: value });
    expect(await keysOf('claude', env)).toEqual(found('stored-key', `keys.claude in ${stored}`));
    const own = { ...env, ANTHROPIC_API_KEY: 'own-key' };
    expect(await keysOf('claude', own)).toEqual(found('own-key', 'ANTHROPIC_API_KEY'));
    const shared = { ...own, COBBLER_AGENT_API_KEY: 'shared-key' };
    expect(await keysOf('claude', shared)).toEqual(found('shared-key', 'COBBLER_AGENT_API_KEY'));
    const { file, ...all } = { ...shared, ...homeWith('apiKey: file-key\nkeys:\n  claude: stored-key\n') };
    expect(await keysOf('claude', all)).toEqual(found('file-key', `apiKey in ${file}`));
  });

  test('in COBBLER_AGENT_API_KEY or apiKey in the file are for the configured provider only [P19]', async () => {
    const none = { used: undefined };
    const shared = { COBBLER_HOME: temporaryFolder(), COBBLER_AGENT_API_KEY: 'secret' };
    expect((await keysOf('claude', shared)).used).toBe('secret');
    expect(await keysOf('openai', shared)).toEqual(none);
    const { file: _, ...env } = homeWith('provider: openai\napiKey: secret\n');
    expect((await keysOf('openai', env)).used).toBe('secret');
    expect(await keysOf('claude', env)).toEqual(none);
  });

  test('from the configuration set only the variable of their own provider [P19]', async () => {
    const { file: _, ...env } = homeWith('keys:\n  claude: stored-key\n');
    const { env: filled } = await readSettings(env);
    expect(filled['ANTHROPIC_API_KEY']).toBe('stored-key');
    expect(filled['OPENAI_API_KEY']).toBeUndefined();
  });

  test('are displayed with their ends only [P19]', () => {
    expect(maskedKey('sk-ant-api03-abcdefghijklmnop-3f2a')).toBe('sk-ant-…3f2a');
    expect(maskedKey('short-key')).toBe('…');
  });
});

test('names the line of invalid YAML', async () => {
  const { file, ...env } = homeWith('model: x\nmaxTurns: [1\nprovider: claude\n');
  await expect(readSettings(env)).rejects.toThrow(new RegExp(`^${file}:\\d+: `));
});

test('hostOf returns the host of the address in use', async () => {
  const env = { COBBLER_HOME: temporaryFolder() };
  expect(hostOf(await readSettings(env))).toBe('api.anthropic.com');
  expect(hostOf(await readSettings(env, { model: 'openai:x', baseURL: 'http://localhost:11434/v1' }))).toBe(
    'localhost:11434',
  );
});
