import type { MockReply, ReadRequest, ScriptBlock } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';

/** Number of turns with tools before the last response of a session that books. */
export const turns = 6;

/** The mock service for all Cobbler processes, on a local port. */
export interface Model {
  readonly url: string;
  readonly key: string;
  /** Number of requests received, including those whose response nothing waited for. */
  readonly requests: number;
  /** Problems of requests that no provider should send. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/**
 * Serves a model on the wire of the Messages API. By default, a response depends only on the conversation, so that a
 * repeated request of any process gets the same one. `Book all places of ID.` gets a call that must not run twice in
 * each turn, and a harmless one next to it; `Book one place of ID.` gets one such turn; `Wait.` gets a command that
 * runs longer than any test; anything else gets no call.
 */
export async function startModel(
  answerMs: () => number,
  answerTo: (request: ReadRequest) => MockReply = bookingAnswer,
): Promise<Model> {
  const server = wireServer(claudeTesting, async (request) => {
    await new Promise((resolve) => setTimeout(resolve, answerMs()));
    return answerTo(request);
  });
  const { url, close } = await serveLoopback(server.handler);
  return {
    url,
    key: 'sk-ant-proof-0123456789abcdefghij',
    get requests() {
      return server.exchanges.length;
    },
    get complaints() {
      return server.exchanges.flatMap(({ complaint }) => complaint ?? []);
    },
    close,
  };
}

function bookingAnswer(request: ReadRequest): MockReply {
  const [asked] = request.turns.flatMap(({ parts }) => parts);
  const said = asked?.type === 'text' ? asked.text : '';
  const [, amount, sessionId = ''] = /Book (all places|one place) of (\S+)\./.exec(said) ?? [];
  const most = amount === 'all places' ? turns : amount === 'one place' ? 1 : 0;
  const turn = request.turns.filter(({ side }) => side === 'assistant').length;
  if (said === 'Wait.' && turn === 0)
    return answer(callBlock('toolu_wait', 'run_command', { command: 'sleep 300' }));
  return turn < most ? calling(turn, sessionId) : answer('Done.');
}

/**
 * Returns the responses of a model that reads: to `Read NUMBER times.` anywhere in a conversation, this many turns
 * with a call that changes nothing, then text.
 */
export function readingAnswer({ turns: said }: ReadRequest): MockReply {
  const prompts = said.map(({ side, parts }) =>
    side === 'user' ? parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('') : '',
  );
  const at = prompts.findLastIndex((text) => text.startsWith('Read '));
  const times = Number(/^Read (\d+) times/.exec(prompts[at] ?? '')?.[1] ?? 0);
  const turn = said.slice(at + 1).filter(({ side }) => side === 'assistant').length;
  const words = 'Some words of an answer that comes in pieces, so that there is text while it comes. '.repeat(
    3,
  );
  if (turn >= times) return answer(words);
  return answer(words, callBlock(`toolu_${at}_${turn}`, 'read_file', { path: 'places.txt' }));
}

function calling(turn: number, sessionId: string): MockReply {
  const harmless =
    turn % 2 === 0
      ? callBlock(`toolu_read_${turn}`, 'read_file', { path: 'places.txt' })
      : callBlock(`toolu_look_${turn}`, 'mcp__bookings__look', { place: turn });
  const book = { session: sessionId, place: turn };
  return answer(`Turn ${turn}.`, callBlock(bookingId(turn), 'mcp__bookings__book', book), harmless);
}

/** Returns the id of the booking call in a turn. */
export function bookingId(turn: number): string {
  return `toolu_book_${turn}`;
}

function answer(...blocks: readonly (string | ScriptBlock)[]): MockReply {
  return replies(scriptResponse(blocks, { model: 'claude-proof' }));
}
