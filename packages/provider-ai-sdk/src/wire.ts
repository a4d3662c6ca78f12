import type { DocumentPart, ImagePart } from '@cobbler/agent';
import type { Transport, Wire } from '@cobbler/agent/provider';
import { wordFraming } from './carried.ts';
import { cross } from './crossing.ts';
import type { EnvelopeSettings } from './envelope.ts';
import { readCall, writeEnvelope } from './envelope.ts';
import { readFault } from './fault.ts';
import type { OpenModel } from './model-source.ts';
import type { ResultFiles } from './prompt.ts';
import { writeTurn } from './prompt.ts';
import { requestIdHeader } from './raw-response.ts';
import type { SinkCall } from './word.ts';
import { utter } from './word.ts';

/** Settings from outside the wire. */
export interface AiSdkWireSettings extends EnvelopeSettings {
  readonly provider: string;
  readonly open: OpenModel;
  readonly transport: Transport;
  /** For messages alone: the SDK knows where it sends. */
  readonly baseURL: string;
  readonly secrets: readonly string[];
  readonly resultFiles: ResultFiles;
  readonly refuses: (part: ImagePart | DocumentPart) => string | undefined;
}

/** A language model of the AI SDK, always streaming. */
export function aiSdkWire(settings: AiSdkWireSettings): Wire {
  const { provider, open, transport, baseURL, secrets, resultFiles, refuses } = settings;
  return {
    provider,
    framing: wordFraming,
    endpoint: { url: baseURL, headers: {}, secrets },
    envelope: (request) => writeEnvelope(request, settings),
    turn: (turn) => writeTurn(turn, resultFiles),
    refuses,
    event: (payload, out) => utter(payload as SinkCall, out),
    fault: readFault,
    requestIdHeader,
    rateLimitHeaders: ['anthropic-ratelimit-*', 'x-ratelimit-*', 'retry-after'],
    send: (body, { signal }) => cross(readCall(body), { open, transport, signal }),
  };
}
