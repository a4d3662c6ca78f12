import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '@cobbler/agent';
import { failsWith, replies, scriptResponse } from '@cobbler/agent/testing';
import { chatTesting } from '@cobbler/provider-openai/testing';
import { describe, expect, test } from 'vitest';
import { config } from '../../src/commands/config.ts';
import { pricedAgent } from '../../src/config/priced-agent.ts';
import { readSettings } from '../../src/config/settings.ts';
import { fakeIo } from '../support/fake-io.ts';
import { invoke } from '../support/in-process.ts';
import { claudeAt, mockService, says, testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const refusal = failsWith({ kind: 'auth', message: 'invalid x-api-key' });

/** Starts a Claude that refuses the key and an OpenAI that responds. */
async function services() {
  const claude = await mockService([refusal, says('From Claude.')]);
  const spare = replies(scriptResponse(['From OpenAI.'], { model: 'gpt-test' }));
  const openai = await mockService([spare], chatTesting);
  const folder = temporaryFolder();
  const home = temporaryFolder();
  const env = {
    ...claudeAt(claude),
    OPENAI_API_KEY: testKey,
    OPENAI_BASE_URL: openai.url,
    COBBLER_HOME: home,
  };
  return { folder, home, env };
}

const prices = 'prices:\n  claude-test: { input: 1, output: 1 }\n  gpt-test: { input: 100, output: 100 }\n';

describe('--fallback', () => {
  test('uses the next model if the first one fails, and says so', async () => {
    const { env, folder } = await services();
    const args = ['--fallback', 'openai:gpt-test', 'Hello.'];
    const { code, stdout, stderr } = await invoke(args, { cwd: folder, env });
    expect([code, stdout]).toEqual([0, 'From OpenAI.\n']);
    expect(stderr).toContain('401 key rejected, switching to openai:gpt-test');
  });

  test('can be set in the configuration, with the prices of each model', async () => {
    const { env, folder, home } = await services();
    writeFileSync(join(home, 'config.yaml'), `fallback: [openai:gpt-test]\n${prices}`);
    const { stdout } = await invoke(['--json', 'Hello.'], { cwd: folder, env });
    const events: Event[] = stdout
      .split('\n')
      .filter((line) => line.includes('"assistant"'))
      .map((line) => JSON.parse(line));
    const [response] = events;
    expect(response).toMatchObject({
      provider: 'openai',
      model: 'gpt-test',
      tried: [{ provider: 'claude', model: 'claude-test', kind: 'auth' }],
    });
    const { usage } = response as Extract<Event, { type: 'assistant' }>;
    expect(response).toMatchObject({ usd: ((usage.inputTokens + usage.outputTokens) * 100) / 1_000_000 });
  });

  test('is stored by cobbler config set', async () => {
    const { env } = await services();
    const io = fakeIo({ env });
    await config(['set', 'fallback', 'openai:gpt-test, fast'], io);
    await config([], io);
    expect(io.stdout.text()).toMatch(/fallback +openai:gpt-test,fast/);
  });

  test('is checked like the model, before anything is sent', async () => {
    const env = { ANTHROPIC_API_KEY: testKey, COBBLER_HOME: temporaryFolder() };
    const run = (...args: string[]) =>
      invoke([...args, 'Hello.'], { cwd: temporaryFolder(), env }).then(({ stderr }) => stderr, String);
    expect(await run('--fallback', 'balancd')).toContain(
      'The model "balancd" (--fallback) is unknown. Did you mean balanced?',
    );
    expect(await run('--fallback', 'openai:gpt-test')).toContain('no key');
    expect(await run('--fallback', 'fast', '--backend', 'codex')).toContain('--backend');
    for (const flag of ['--tools', '--allow-host']) {
      expect(await run(flag, 'example.com', '--backend', 'codex')).toContain(
        `${flag} cannot be used with --backend`,
      );
    }
    expect(await run('--fallback', 'fast', '--record', 'x.jsonl')).toContain('--record');
  });

  test('prices two models of one provider separately', async () => {
    const { env, home } = await services();
    writeFileSync(join(home, 'config.yaml'), prices.replace('gpt-test', 'claude-other'));
    const settings = await readSettings(env);
    const { agent, pricing } = await pricedAgent(settings, { fallback: ['claude:claude-other'] });
    expect(agent.candidates?.map(({ model }) => pricing('claude', model)?.input)).toEqual([1, 100]);
    expect(pricing('openai', 'claude-test')).toBeUndefined();
  });
});
