import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replies, scriptResponse } from '@cobbler/agent/testing';
import { responsesTesting } from '@cobbler/provider-openai/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { invoke } from '../support/in-process.ts';
import { claudeAt, mockService, testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The bytes of a request around the text that may change, and that text. */
interface Sent {
  readonly before: string;
  readonly facts: string;
  readonly after: string;
}

afterEach(() => void vi.useRealTimers());

/** Returns what a run sends on a day from a project in a new directory, before its conversation. */
async function sentOn(day: string, provider: 'claude' | 'openai'): Promise<Sent> {
  const script = [replies(scriptResponse(['Done.']))];
  const service = await (provider === 'claude' ? mockService(script) : mockService(script, responsesTesting));
  const cwd = realpathSync(temporaryFolder());
  mkdirSync(join(cwd, '.git'));
  writeFileSync(join(cwd, 'AGENTS.md'), 'Use tabs.\n');
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${day}T12:00:00`) });
  const flags =
    provider === 'claude'
      ? ['-m', 'claude:claude-sonnet-5-5']
      : ['-m', 'openai:gpt-6.1-sol', '--base-url', `${service.url}/v1`, '--api', 'responses'];
  const env = provider === 'claude' ? claudeAt(service) : { OPENAI_API_KEY: testKey };
  const end = await invoke(['Say it.', '--yes', '--append-system', 'Be brief.', ...flags], { env, cwd });
  expect(end).toMatchObject({ code: 0 });
  const text = service.server.exchanges[0]?.text ?? '';
  const facts = /Folder: .*?Today: \d{4}-\d\d-\d\d/s.exec(text)?.[0] ?? '';
  expect(facts).toContain(`Folder: ${cwd}\\n`);
  expect(facts).toContain(`Instructions: ${join(cwd, 'AGENTS.md')}\\n`);
  expect(facts).toContain(`Today: ${day}`);
  const [before = '', after = ''] = text.split(facts);
  return { before, facts, after: after.slice(0, after.search(/"(messages|input)":\[/)) };
}

describe('runs on different days in different directories send an equal prefix', () => {
  test('to Claude, with a cache mark at its end', async () => {
    const [one, two] = [await sentOn('2026-11-23', 'claude'), await sentOn('2026-11-24', 'claude')];
    expect(two.facts).not.toBe(one.facts);
    expect([two.before, two.after]).toEqual([one.before, one.after]);
    expect(one.before).toMatch(
      /"Be brief\.","cache_control":\{"type":"ephemeral"\}\},\{"type":"text","text":"$/,
    );
    expect(one.before).toContain('(AGENTS.md):\\n\\nUse tabs.');
    expect(one.after).toContain('"name":"read_file"');
  });

  test('to OpenAI, up to the last of the instructions', async () => {
    const [one, two] = [await sentOn('2026-11-23', 'openai'), await sentOn('2026-11-24', 'openai')];
    expect(two.facts).not.toBe(one.facts);
    expect([two.before, two.after]).toEqual([one.before, one.after]);
    expect(one.before).toMatch(/Use tabs\.\\n\\nBe brief\.\\n\\n$/);
    expect(one.after).toMatch(/^",.*"name":"read_file"/);
  });
});
