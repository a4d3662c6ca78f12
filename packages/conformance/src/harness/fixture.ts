import type { Agent, Message, ModelRequest, Runtime, Tool } from '@cobbler/agent';
import { defineTool, systemRuntime, textOf } from '@cobbler/agent';
import type { HarnessOptions } from '@cobbler/agent/harness';
import type { ScriptedAnswer } from '@cobbler/agent/testing';
import { scriptedAgent } from '@cobbler/agent/testing';

/** Long enough that a request gets no response during a case. */
const never = 600_000;

/** Long enough to be interrupted from another process. */
const unhurriedMs = 300;

/**
 * The agent and tools behind the harness in every case: an agent that follows the last user message, and four
 * tools. It keeps no state, so any process can take over a session.
 *
 * | message | response of the agent |
 * |---|---|
 * | `say TEXT` | TEXT |
 * | `think TEXT` | reasoning, then TEXT |
 * | `count` | the number of user messages so far |
 * | `use A B` | calls to these tools, then their results as text |
 * | `loop` | calls to `look` until the next user message |
 * | `listen` | the same, but slowly enough to send a message |
 * | `hang` | none |
 * | `begin TEXT` | TEXT, without an end |
 * | `fail`, `cut`, `refuse` | an error, a truncated response, a refusal |
 *
 * | tool | behavior |
 * |---|---|
 * | `look` | returns `seen` |
 * | `write` | requires an approval, then returns `written` |
 * | `break` | throws |
 * | `hold` | runs until it is stopped |
 */
export function harnessFixture(runtime: Runtime = systemRuntime): HarnessFixtureOptions {
  const agent = scriptedAgent([answerTo], { repeat: true, runtime, retry: { baseMs: 1, maxMs: 1 } });
  return {
    agent,
    tools: fixtureTools,
    gate: (call) => ({ type: call.toolName === 'write' ? 'ask' : 'allow' }),
  };
}

/** Parts of the fixture that depend on the harness. */
export interface HarnessFixtureOptions extends Pick<HarnessOptions, 'tools' | 'gate'> {
  readonly agent: Agent;
}

function answerTo({ messages, config }: ModelRequest): ScriptedAnswer {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const prompt = messages[at];
  const [word = '', ...rest] = (prompt === undefined ? '' : textOf(prompt)).split(' ');
  const results = messages.slice(at + 1).filter(({ role }) => role === 'tool_result');
  if (config?.toolChoice === 'none') return { text: 'That is all.' };
  if (word === 'use') return results.length === 0 ? calling(rest) : { text: resultsIn(results) };
  if (word === 'loop') return calling(['look']);
  if (word === 'listen') return { ...calling(['look']), delayMs: unhurriedMs };
  if (word === 'count') return { text: String(messages.filter(({ role }) => role === 'user').length) };
  return plainAnswers[word]?.(rest.join(' ')) ?? { text: `There is no ${word}.` };
}

const plainAnswers: Readonly<Record<string, (text: string) => ScriptedAnswer>> = {
  say: (text) => ({ text }),
  think: (text) => ({ reasoning: 'Let me think.', text }),
  begin: (text) => ({ text, stalls: true }),
  hang: () => ({ delayMs: never }),
  fail: () => ({ error: { kind: 'auth', message: 'The key was refused.', status: 401 } }),
  cut: () => ({ text: 'Half of', stop: 'max_tokens' }),
  refuse: () => ({ text: 'No.', stop: 'refusal' }),
};

function calling(names: readonly string[]): ScriptedAnswer {
  return { text: 'Working.', calls: names.map((name) => ({ name, arguments: { of: name } })) };
}

function resultsIn(results: readonly Message[]): string {
  return results.map(textOf).join(', ');
}

const fixtureTools: readonly Tool[] = [
  fixtureTool('look', { effect: 'read', mayRepeat: true, execute: () => 'seen' }),
  fixtureTool('write', { execute: () => 'written' }),
  fixtureTool('break', {
    execute: () => {
      throw new Error('It broke.');
    },
  }),
  fixtureTool('hold', {
    execute: (_args, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  }),
];

function fixtureTool(name: string, rest: Pick<Tool, 'execute' | 'effect' | 'mayRepeat'>): Tool {
  return defineTool({ name, description: `The tool ${name}.`, parameters: { type: 'object' }, ...rest });
}
