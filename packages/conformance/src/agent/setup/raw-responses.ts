import type { ProviderTesting, ScriptAnswer } from '@cobbler/agent/testing';
import { framesOf, replies } from '@cobbler/agent/testing';
import type { Asking, Outcome, WireFixture } from './setup.ts';
import { onStage } from './setup.ts';
import type { SocketAnswer, SocketServer } from './socket-server.ts';
import { serveSocket } from './socket-server.ts';
import type { AgentLink, ContractSubject } from './subject.ts';

/** A good answer as the bytes of HTTP, to be put together in other ways than a good server would. */
export interface RawParts {
  /** Status line and headers, without the empty line that ends them. */
  readonly head: string;
  /** The frames of the answer. */
  readonly frames: readonly string[];
  readonly body: string;
  /** Bytes of the body. */
  readonly length: number;
}

/** The parts of an answer on this wire. */
export function rawParts(answer: ScriptAnswer, testing: ProviderTesting, protocol = 'HTTP/1.1'): RawParts {
  const frames = framesOf(replies(answer), testing);
  const body = frames.join('');
  const headers = Object.entries({ ...testing.head?.headers, 'content-type': testing.contentType });
  const lines = [`${protocol} 200 OK`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return { head: lines.join('\r\n'), frames, body, length: new TextEncoder().encode(body).length };
}

/** Text as chunks of the chunked coding, without the empty one that ends it. */
export function chunked(...texts: readonly string[]): string {
  const encoder = new TextEncoder();
  return texts.map((text) => `${encoder.encode(text).length.toString(16)}\r\n${text}\r\n`).join('');
}

/** The end of a chunked body. */
export const lastChunk = '0\r\n\r\n';

/** A whole and correct answer of known length. */
export function fineAnswer(answer: ScriptAnswer, testing: ProviderTesting): SocketAnswer {
  const { head, body, length } = rawParts(answer, testing);
  return { bytes: [`${head}\r\ncontent-length: ${length}\r\n\r\n${body}`] };
}

/** A stage whose service is a socket. */
export interface SocketStage {
  readonly stage: WireFixture;
  readonly socket: SocketServer;
  ask(how?: Asking): Promise<Outcome>;
}

/** Plays answers byte for byte; by default nothing is tried again. */
export async function onSocket(
  subject: ContractSubject,
  answers: readonly SocketAnswer[],
  act: (stage: SocketStage) => Promise<void>,
  link: Partial<AgentLink> = {},
): Promise<void> {
  const socket = await serveSocket(answers);
  try {
    await onStage(subject, [], async (stage) => {
      const agent = stage.agent({ baseURL: socket.url, retry: { retries: 0 }, ...link });
      await act({ stage, socket, ask: (how = {}) => stage.ask({}, { agent, ...how }) });
    });
  } finally {
    await socket.close();
  }
}
