import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '@cobbler/agent';
import type { MockReply, ReadRequest } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { onTestFinished } from 'vitest';
import { testKey } from './mock-service.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A request as the model sees it: its first user text, the results so far, and its tools. */
export interface Seen {
  readonly task: string;
  readonly results: readonly string[];
  readonly tools: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Stage {
  /** All requests so far. */
  readonly seen: readonly Seen[];
  readonly folder: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

export type Call = readonly [name: string, input: object];
export type Mind = (seen: Seen) => string | readonly Call[] | Promise<string | readonly Call[]>;

/** Creates a project, and a mock service whose models say what `mind` returns. */
export async function stage(mind: Mind): Promise<Stage> {
  const seen: Seen[] = [];
  const reply = async (request: ReadRequest): Promise<MockReply> => {
    const parts = request.turns.flatMap((turn) => [...turn.parts]);
    const body = JSON.parse(server.exchanges.at(-1)?.text ?? '{}');
    const one: Seen = {
      task: parts.find((part) => part.type === 'text')?.text ?? '',
      results: parts.flatMap((part) => (part.type === 'result' ? [part.text] : [])),
      tools: (body.tools ?? []).map((tool: { name: string }) => tool.name),
      body,
    };
    seen.push(one);
    const answer = await mind(one);
    const blocks =
      typeof answer === 'string'
        ? [answer]
        : answer.map(([name, input], at) => callBlock(`toolu_${seen.length}_${at}`, name, input));
    return replies(
      scriptResponse(blocks, { model: 'claude-test', usage: { inputTokens: 1000, outputTokens: 10 } }),
    );
  };
  const server = wireServer(claudeTesting, reply as never, { secret: testKey });
  const { url, close } = await serveLoopback(server.handler);
  onTestFinished(() => close());
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'notes.txt'), 'the needle\n');
  const home = join(folder, 'home');
  const env = {
    ANTHROPIC_API_KEY: testKey,
    ANTHROPIC_BASE_URL: url,
    COBBLER_MODEL: 'claude:claude-test',
    HOME: folder,
    COBBLER_HOME: home,
  };
  return { seen, folder, home, env };
}

export const eventsIn = (stdout: string): Event[] =>
  stdout
    .split('\n')
    .filter((line) => line.includes('"seq"'))
    .map((line) => JSON.parse(line));

export const toolResults = (stdout: string): Extract<Event, { type: 'tool_result' }>[] =>
  eventsIn(stdout).flatMap((event) => (event.type === 'tool_result' ? [event] : []));

/** True for the model of the run, false for that of a sub-agent. */
export const isMain = ({ tools }: Seen): boolean => tools.includes('agent');
