import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/interfaces/agent.ts';
import type { AgentConfig, FactoryConfig } from '../../src/interfaces/config.ts';
import { cleanKey } from '../../src/interfaces/config.ts';
import { parseModel, resolveAgent } from '../../src/interfaces/resolve-agent.ts';
import { AgentError } from '../../src/values/errors.ts';

function factories() {
  const given: Record<string, FactoryConfig> = {};
  const make = (name: string) => (config: FactoryConfig) => {
    given[name] = config;
    return { provider: name, model: config.model ?? 'default' } as Agent;
  };
  return { given, claude: make('claude'), openai: make('openai') };
}

function resolve(config: AgentConfig, env: Record<string, string> = {}, chosen: AgentConfig = {}) {
  const { given, ...known } = factories();
  const agent = resolveAgent(config, known, env, chosen);
  return { agent, given };
}

describe('resolveAgent', () => {
  it('uses claude when the configuration names no provider [S0.28]', () => {
    expect(resolve({}).agent.provider).toBe('claude');
  });

  it('rejects factories that are not an object at once, however long they are [P26]', () => {
    const long = 'long '.repeat(200_000);
    expect(() => resolveAgent({}, long as never, {})).toThrow(/^factories is invalid: .{1,100}Use an object/);
  });

  it('passes model, limits, temperature, timeout and address to the factory [S0.28]', () => {
    const config = {
      model: 'm',
      maxTokens: 7,
      temperature: 0.5,
      requestTimeout: 9,
      baseURL: 'http://localhost:1',
    };
    expect(resolve(config).given['claude']).toMatchObject(config);
  });

  it('prefers the configured key over COBBLER_AGENT_API_KEY [S0.29]', () => {
    const { given } = resolve({ apiKey: 'from-file' }, { COBBLER_AGENT_API_KEY: 'from-env' });
    expect(given['claude']?.apiKey).toBe('from-file');
  });

  it('uses COBBLER_AGENT_API_KEY if the key is empty, and passes the environment on [S0.29]', () => {
    const env = { COBBLER_AGENT_API_KEY: ' "from-env"\n', ANTHROPIC_API_KEY: 'other' };
    const { given } = resolve({ apiKey: '' }, env);
    expect(given['claude']?.apiKey).toBe('from-env');
    expect(given['claude']?.env).toBe(env);
  });

  it('never passes COBBLER_AGENT_API_KEY to a provider that is not the configured one [P19]', () => {
    const { given } = resolve(
      { provider: 'claude' },
      { COBBLER_AGENT_API_KEY: 'secret' },
      { provider: 'openai' },
    );
    expect(JSON.stringify(given['openai']?.apiKey ?? null)).toBe('null');
  });

  it('never passes the configured key, address or model to another provider [P19]', () => {
    const config = {
      provider: 'claude',
      apiKey: 'secret',
      baseURL: 'http://localhost:1',
      model: 'claude-x',
      maxTokens: 5,
    };
    const { given } = resolve(config, {}, { provider: 'openai' });
    expect(given['openai']).toMatchObject({ maxTokens: 5 });
    expect(given['openai']?.apiKey).toBeUndefined();
    expect(given['openai']?.baseURL).toBeUndefined();
    expect(given['openai']?.model).toBeUndefined();
  });

  it('rejects an unknown provider as invalid and lists the known ones [S0.32]', () => {
    const attempt = () => resolve({ provider: 'oracle' });
    expect(attempt).toThrowError(/"oracle".*claude, openai/);
    try {
      attempt();
    } catch (error) {
      expect(AgentError.is(error) && error.kind).toBe('invalid');
    }
  });

  it('does not mistake a name of Object.prototype for a provider [S0.32]', () => {
    expect(() => resolve({ provider: 'constructor' })).toThrowError(/no provider named "constructor"/);
  });
});

describe('parseModel', () => {
  it.each([
    ['openai:gpt-6', { provider: 'openai', model: 'gpt-6' }],
    ['openai/gpt-6', { provider: 'openai', model: 'gpt-6' }],
    ['claude:fast', { provider: 'claude', model: 'fast' }],
    ['best', { model: 'best' }],
    ['qwen3:8b', { model: 'qwen3:8b' }],
    ['meta/llama', { model: 'meta/llama' }],
  ])('reads %s', (text, expected) => {
    expect(parseModel(text, ['claude', 'openai'])).toEqual(expected);
  });
});

describe('cleanKey', () => {
  it.each([
    ['  key\n', 'key'],
    ['"key"', 'key'],
    ["'key'\r\n", 'key'],
    ['', undefined],
    ['""', undefined],
    [undefined, undefined],
  ])('turns %j into %j', (given, expected) => {
    expect(cleanKey(given)).toBe(expected);
  });
});
