import type { HarnessHandler } from '../harness/handler.ts';
import type { HarnessConfig } from '../harness/prompt-options.ts';
import { harnessReaders } from '../harness/prompt-options.ts';
import type { AgentError } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { amount, callable, record, text, withMethods } from '../values/input.ts';
import type { UserPart } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';

/** Options of `connectHarness`. */
export interface RemoteOptions extends HarnessConfig {
  /** URL of the server, such as `http://127.0.0.1:4370`. */
  readonly url: string;
  /** A token with the scopes `read` and `prompt`, and `approve` to answer approval requests. */
  readonly token: string;
  /** Receives all events of the session after the connection is made, whichever client started the run. */
  readonly handler?: HarnessHandler | null;
  /** Called each time the connection is lost. It reconnects automatically, even if the callback throws. */
  readonly onLost?: (error: AgentError) => void;
  /** Called when the connection is restored, with the number of stored events that were missed. */
  readonly onBack?: (events: number) => void;
  /** Called when the server refuses a decision about an active run, which still waits for one. */
  readonly onRefused?: (approvalId: string, error: AgentError) => void;
  /** Called with each message that the active run did not receive before it ended. */
  readonly onUnread?: (content: readonly UserPart[]) => void;
  /** Delays before a reconnect grow from base to max. Default 250 and 5,000 ms. */
  readonly back?: { readonly baseMs: number; readonly maxMs: number };
  /** Maximum time for which a run may send no events before it counts as failed, in milliseconds. Default 300,000. */
  readonly patienceMs?: number;
  /** Maximum time that a cancelled run may take to end, in milliseconds. Default 5,000. */
  readonly stopMs?: number;
  readonly runtime?: Runtime;
}

/** Reads the options of a remote harness. */
export const remoteOptions: Reader<RemoteOptions> = record<RemoteOptions>(
  {
    ...harnessReaders,
    url: text,
    token: text,
    onLost: callable,
    onBack: callable,
    onRefused: callable,
    onUnread: callable,
    back: record({ baseMs: amount, maxMs: amount }, ['baseMs', 'maxMs']),
    patienceMs: amount,
    stopMs: amount,
    runtime: withMethods('now', 'monotonic', 'timer', 'random', 'id', 'fetch'),
  },
  ['url', 'token'],
);
