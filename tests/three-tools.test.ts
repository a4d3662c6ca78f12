import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent, Message } from '@cobbler/agent';
import { Executor, textOf } from '@cobbler/agent';
import type { MockReply, ProviderTesting, ReadRequest } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { createClaude } from '@cobbler/provider-claude';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { createOpenAI } from '@cobbler/provider-openai';
import { chatTesting, responsesTesting } from '@cobbler/provider-openai/testing';
import { workspaceTools } from '@cobbler/tools';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cobbler } from '../apps/cli/test/support/in-process.ts';

const key = 'sk-test-0123456789abcdefghij';
const patience = { timeout: 120_000 };

/** A wire, with the CLI arguments that select it. */
interface WireRow {
  readonly name: string;
  readonly testing: ProviderTesting;
  readonly model: string;
  args(url: string): readonly string[];
  agent(url: string): Agent;
}

const openai = (model: string, api: 'responses' | 'chat') => (url: string) =>
  createOpenAI({ model, apiKey: key, baseURL: `${url}/v1`, api, env: {} });

const wires: readonly WireRow[] = [
  {
    name: 'Claude',
    testing: claudeTesting,
    model: 'claude-sonnet-5-5',
    args: (url) => ['-m', 'claude:claude-sonnet-5-5', '--base-url', url],
    agent: (url) => createClaude({ model: 'claude-sonnet-5-5', apiKey: key, baseURL: url, env: {} }),
  },
  {
    name: 'OpenAI Responses',
    testing: responsesTesting,
    model: 'gpt-6-sol',
    args: (url) => ['-m', 'openai:gpt-6-sol', '--base-url', `${url}/v1`, '--api', 'responses'],
    agent: openai('gpt-6-sol', 'responses'),
  },
  {
    name: 'OpenAI Chat',
    testing: chatTesting,
    model: 'qwen3',
    args: (url) => ['-m', 'openai:qwen3', '--base-url', `${url}/v1`],
    agent: openai('qwen3', 'chat'),
  },
];

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-whole-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function serve(
  testing: ProviderTesting,
  script: readonly MockReply[] | ((request: ReadRequest) => MockReply),
) {
  const server = wireServer(testing, script, { secret: key });
  const { url, close } = await serveLoopback(server.handler);
  onTestFinished(() => close());
  return { url, server };
}

let calls = 0;

function says(
  model: string,
  text: string,
  ...made: readonly (readonly [name: string, input: unknown])[]
): MockReply {
  const blocks = made.map(([name, input]) => callBlock(`call_${++calls}`, name, input));
  return replies(scriptResponse([...(text === '' ? [] : [text]), ...blocks], { model }));
}

/** Returns a model that reads, edits and runs a file, depending on the previous results. */
function threeTools(model: string): (request: ReadRequest) => MockReply {
  return (request) => {
    const results = request.turns.flatMap((turn) => turn.parts.filter((part) => part.type === 'result'));
    const last = results.at(-1)?.text ?? '';
    if (results.length === 0) return says(model, 'I will read it.', ['read_file', { path: 'sum.mjs' }]);
    if (results.length === 1) {
      const old = last.includes('a - b') ? 'a - b' : 'nothing of the kind';
      return says(model, 'It subtracts.', [
        'edit_file',
        { path: 'sum.mjs', old_text: old, new_text: 'a + b' },
      ]);
    }
    if (results.length === 2) return says(model, 'Now run it.', ['run_command', { command: 'node sum.mjs' }]);
    return says(model, `It prints ${/^\d+$/m.exec(last)?.[0] ?? 'nothing'}.`);
  };
}

describe('a task with three tools, run by the CLI', () => {
  test.each(wires)('completes over the wire of $name', patience, async ({ testing, model, args }) => {
    const cwd = folder();
    writeFileSync(join(cwd, 'sum.mjs'), 'const sum = (a, b) => a - b;\nconsole.log(sum(2, 3));\n');
    const { url, server } = await serve(testing, threeTools(model));
    const end = await cobbler(['make it add', '--yes', '--no-sandbox', ...args(url)], {
      cwd,
      env: { ANTHROPIC_API_KEY: key, OPENAI_API_KEY: key },
    });
    expect(end.code, end.stderr).toBe(0);
    expect(end.stdout).toBe('It prints 5.\n');
    expect(readFileSync(join(cwd, 'sum.mjs'), 'utf8')).toContain('a + b');
    expect(end.stderr).toMatch(/\ncomplete {2}4 turns · 3 tools/);
    expect(server.exchanges.map((exchange) => exchange.complaint)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(end.stdout + end.stderr).not.toContain(key);
  });
});

describe('a conversation that changes providers', () => {
  const [claude, responses, chat] = wires;
  if (claude === undefined || responses === undefined || chat === undefined)
    throw new Error('There are fewer than three wires.');

  test.each([responses, chat])(
    'continues from Claude to $name and back, with reasoning and tool calls',
    patience,
    async (other) => {
      const cwd = folder();
      writeFileSync(join(cwd, 'word.txt'), 'cobbler\n');
      const tools = workspaceTools({ root: cwd, sandbox: 'off' });
      const turns = (wire: WireRow, word: string): MockReply[] => [
        replies(
          scriptResponse(
            [
              ...('reasoning' in wire.testing.lacks
                ? []
                : [{ type: 'reasoning' as const, text: `${word}: think`, seal: `seal of ${word}` }]),
              `${word}: I will look.`,
              callBlock(`call_${++calls}`, 'read_file', { path: 'word.txt' }),
            ],
            { model: wire.model },
          ),
        ),
        says(wire.model, `${word}: it says cobbler.`),
      ];
      const first = await serve(claude.testing, [...turns(claude, 'one'), ...turns(claude, 'three')]);
      const second = await serve(other.testing, turns(other, 'two'));
      let messages: readonly Message[] = [];
      for (const [agent, word] of [
        [claude.agent(first.url), 'one'],
        [other.agent(second.url), 'two'],
        [claude.agent(first.url), 'three'],
      ] as const) {
        const prompt: Message = { role: 'user', content: [{ type: 'text', text: `Look, ${word}.` }] };
        const result = await new Executor({ agent, tools }).run([...messages, prompt]);
        expect(result.status, result.error?.message).toBe('complete');
        expect(result.text).toBe(`${word}: it says cobbler.`);
        messages = result.messages;
      }
      expect(
        messages.map((message) => textOf(message)).filter((text) => text.includes('I will look')),
      ).toHaveLength(3);
      for (const { server } of [first, second]) {
        expect(server.exchanges.map((exchange) => exchange.complaint).filter(Boolean)).toEqual([]);
      }
      // The provider metadata of one provider is sent back to that provider only.
      const sent = (text: string) => text.includes('seal of one');
      expect(second.server.exchanges.map(({ text }) => sent(text))).toEqual([false, false]);
      expect(first.server.exchanges[2]?.text).toContain('one: think');
    },
  );
});
