import type { Json, StopReason, Usage } from '@cobbler/agent';
import type { FaultKind, ResponseSink } from '@cobbler/agent/provider';
import { assertNever } from '@cobbler/agent/values';

/** A call of a {@link ResponseSink} method as data. */
export type SinkCall =
  | { readonly say: 'text' | 'reasoning' | 'input'; readonly at: string; readonly delta: string }
  | { readonly say: 'seal'; readonly at: string; readonly data: Json }
  | { readonly say: 'call'; readonly at: string; readonly id: string; readonly name: string }
  | { readonly say: 'close'; readonly at: string }
  | { readonly say: 'usage'; readonly counts: Partial<Usage> }
  | { readonly say: 'model'; readonly name: string }
  | { readonly say: 'end'; readonly reason: StopReason; readonly raw?: string | undefined }
  | { readonly say: 'ignore'; readonly kind: string }
  /** An event of the service that the SDK does not know. */
  | { readonly say: 'unknown'; readonly event: unknown }
  | { readonly say: 'fail'; readonly kind: FaultKind; readonly message: string };

/** Makes the recorded call on a sink. */
export function utter(word: SinkCall, out: ResponseSink): void {
  switch (word.say) {
    case 'text':
    case 'reasoning':
    case 'input':
      return out[word.say](word.at, word.delta);
    case 'seal':
      return out.seal(word.at, word.data);
    case 'call':
      return out.call(word.at, word.id, word.name);
    case 'close':
      return out.close(word.at);
    case 'usage':
      return out.usage(word.counts);
    case 'model':
      return out.model(word.name);
    case 'end':
      return out.end(word.reason, word.raw);
    case 'ignore':
      return out.ignore(word.kind);
    case 'unknown':
      return undefined;
    case 'fail':
      return out.fail(word);
    default:
      return assertNever(word);
  }
}
