import type { DocumentPart, ImagePart } from '@cobbler/agent';
import type { Transport, Wire } from '@cobbler/agent/provider';
import type { OpenModel } from './http/model-source.ts';
import { requestIdHeader } from './http/raw-response.ts';
import { callSdk } from './http/sdk-call.ts';
import { sinkFraming } from './http/sink-framing.ts';
import type { EnvelopeSettings } from './request/envelope.ts';
import { readCall, writeEnvelope } from './request/envelope.ts';
import type { ResultFiles } from './request/prompt.ts';
import { writeTurn } from './request/prompt.ts';
import { readFault } from './response/fault.ts';
import type { SinkCall } from './values/sink-call.ts';
import { utter } from './values/sink-call.ts';

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
    framing: sinkFraming,
    endpoint: { url: baseURL, headers: {}, secrets },
    envelope: (request) => writeEnvelope(request, settings),
    turn: (turn) => writeTurn(turn, resultFiles),
    refuses,
    event: (payload, out) => utter(payload as SinkCall, out),
    fault: readFault,
    requestIdHeader,
    rateLimitHeaders: ['anthropic-ratelimit-*', 'x-ratelimit-*', 'retry-after'],
    send: (body, { signal }) => callSdk(readCall(body), { open, transport, signal }),
  };
}
