import type { Frame, ProviderTesting, ScriptAnswer } from '@cobbler/agent/testing';
import { framesOf, joinFrames, replies } from '@cobbler/agent/testing';
import type { Asking, Outcome, WireFixture } from './setup.ts';
import { withSetup } from './setup.ts';
import type { SocketResponse, SocketServer } from './socket-server.ts';
import { serveSocket } from './socket-server.ts';
import type { AgentLink, ContractSubject } from './subject.ts';

/** The parts of a correct HTTP response, which cases combine in unusual ways. */
export interface RawParts {
  /** The status line and headers, without the empty line that ends them. */
  readonly head: string;
  /** The frames of the response. */
  readonly frames: readonly Uint8Array[];
  readonly body: Uint8Array;
  /** Length of the body in bytes. */
  readonly length: number;
}

/** Returns the parts of a response on this wire. */
export function rawParts(answer: ScriptAnswer, testing: ProviderTesting, protocol = 'HTTP/1.1'): RawParts {
  const frames = framesOf(replies(answer), testing);
  const body = joinFrames(frames);
  const headers = Object.entries({ ...testing.head?.headers, 'content-type': testing.contentType });
  const lines = [`${protocol} 200 OK`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return { head: lines.join('\r\n'), frames, body, length: body.length };
}

/** Encodes data in the chunked transfer coding, without its end, with extensions of each chunk such as `;name=value`. */
export function encodeChunks(data: readonly Uint8Array[], extensions = ''): Uint8Array {
  return joinFrames(
    data.flatMap((chunk): Frame[] => [`${chunk.length.toString(16)}${extensions}\r\n`, chunk, '\r\n']),
  );
}

/** The end of a chunked body. */
export const lastChunk = '0\r\n\r\n';

/** Returns a complete and correct response of known length. */
export function fineResponse(answer: ScriptAnswer, testing: ProviderTesting): SocketResponse {
  const { head, body, length } = rawParts(answer, testing);
  return { bytes: [joinFrames([`${head}\r\ncontent-length: ${length}\r\n\r\n`, body])] };
}

/** A fixture whose service is a raw socket. */
export interface SocketSetup {
  readonly setup: WireFixture;
  readonly socket: SocketServer;
  ask(how?: Asking): Promise<Outcome>;
}

/** Runs a case against raw responses. By default requests are not retried. */
export async function onSocket(
  subject: ContractSubject,
  answers: readonly SocketResponse[],
  act: (setup: SocketSetup) => Promise<void>,
  link: Partial<AgentLink> = {},
): Promise<void> {
  const socket = await serveSocket(answers);
  try {
    await withSetup(subject, [], async (setup) => {
      const agent = setup.agent({ baseURL: socket.url, retry: { retries: 0 }, ...link });
      await act({ setup, socket, ask: (how = {}) => setup.ask({}, { agent, ...how }) });
    });
  } finally {
    await socket.close();
  }
}
