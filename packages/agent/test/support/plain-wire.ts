import type { ResponseSink, Turn, Wire } from '../../src/provider/wire/wire.ts';

/** Parts of a wire that a test replaces. */
export type WireParts = Partial<Wire>;

export const secret = 'sk-plain/se+cret-"0123456789';

/**
 * Returns a wire whose payloads are calls of `ResponseSink`, such as `["text", 0, "Hello"]`,
 * and whose turns are those of the library, unchanged. Any other payload is ignored.
 */
export function plainWire(parts: WireParts = {}): Wire {
  return {
    provider: 'plain',
    framing: 'sse',
    endpoint: { url: 'https://plain.test/answers', headers: { 'X-Key': secret }, secrets: [secret] },
    envelope: ({ tools, system, ...rest }) => ({
      body: { ...rest, system: [...system], tools: tools.map((tool) => ({ ...tool })) } as never,
      turns: 'turns',
    }),
    turn: (turn: Turn) => [turn as never],
    event: say,
    fault: (status, body) => ({ message: `status ${status}: ${body}` }),
    requestIdHeader: 'request-id',
    ...parts,
  };
}

function say(payload: unknown, out: ResponseSink): void {
  if (!Array.isArray(payload)) return;
  const [name, ...args] = payload as [keyof ResponseSink, ...unknown[]];
  (out[name] as (...args: unknown[]) => void).apply(out, args);
}

/** Encodes a payload for the stream. */
export function frame(...payload: unknown[]): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}

/** Returns the stream of a complete response with one text. */
export function textAnswer(text: string): string {
  return [
    frame('usage', { inputTokens: 10 }),
    frame('text', 0, text),
    frame('close', 0),
    frame('usage', { outputTokens: 3 }),
    frame('end', 'complete'),
  ].join('');
}
