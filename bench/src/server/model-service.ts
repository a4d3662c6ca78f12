import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MockReply, ReadRequest, ScriptAnswer, ScriptBlock } from '@cobbler/agent/testing';
import { framesOf, replies } from '@cobbler/agent/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';

/**
 * Time for which an idle client connection is kept, in milliseconds: it must be closed before descriptors are
 * counted.
 */
const keepAliveMs = 1_000;

/**
 * A model over HTTP that follows the instructions in the last message. It stores nothing.
 *
 * | Last message | Response |
 * |---|---|
 * | `say N` | N words |
 * | `use TOOL JSON` | calls the tool, then ends |
 * | `both JSON` | calls `read_file` with it and `list_files` in one response |
 * | `hang` | never responds |
 * | anything else | rejects the request, like a service that cannot parse it |
 */
export interface ModelService {
  readonly url: string;
  close(): Promise<void>;
}

export async function startModelService(): Promise<ModelService> {
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => closed(server) };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  const play = playFor(claudeTesting.read(JSON.parse(Buffer.concat(chunks).toString())));
  if (play === 'silence') return;
  if (play === undefined) {
    const { status, headers, body } = claudeTesting.error({ kind: 'invalid', message: 'No.' }, '');
    response.writeHead(status, headers).end(body);
    return;
  }
  response.writeHead(200, { 'content-type': claudeTesting.contentType });
  response.end(Buffer.concat(framesOf(play, claudeTesting)));
}

let calls = 0;

function playFor(request: ReadRequest): Extract<MockReply, { type: 'answer' }> | 'silence' | undefined {
  const { parts, isAnswered } = lastWords(request);
  const [word = '', ...rest] = parts.split(' ');
  const text = rest.join(' ');
  if (word === 'hang') return 'silence';
  if (word === 'say') return replies(said(Array.from({ length: Number(text) }, () => 'word').join(' ')));
  if (word !== 'use' && word !== 'both') return undefined;
  if (isAnswered) return replies(said('Done.'));
  if (word === 'both') return replies(calling([calls_('read_file', text), calls_('list_files', '{}')]));
  const [tool = '', ...input] = rest;
  return replies(calling([calls_(tool, input.join(' '))]));
}

/** Returns the last message, and whether it was followed by tool results. */
function lastWords({ turns }: ReadRequest): { parts: string; isAnswered: boolean } {
  const at = turns.findLastIndex(({ side, parts }) => side === 'user' && parts.some(isText));
  const parts = (turns[at]?.parts ?? []).flatMap((part) => (isText(part) ? [part.text] : [])).at(-1) ?? '';
  const isAnswered = turns.slice(at + 1).some((turn) => turn.parts.some(({ type }) => type === 'result'));
  return { parts, isAnswered };
}

function isText(part: ReadRequest['turns'][number]['parts'][number]): part is { type: 'text'; text: string } {
  return part.type === 'text';
}

function calls_(name: string, input: string): ScriptBlock {
  calls += 1;
  return { type: 'call', id: `toolu_${calls}`, name, input };
}

const usage = { inputTokens: 100, outputTokens: 20 } as const;

function said(text: string): ScriptAnswer {
  return { blocks: [{ type: 'text', text }], stop: 'complete', usage, model: 'claude-test' };
}

function calling(blocks: readonly ScriptBlock[]): ScriptAnswer {
  const all = [{ type: 'text', text: 'Working.' } as const, ...blocks];
  return { blocks: all, stop: 'tool_use', usage, model: 'claude-test' };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
