import type { StepSettings, Steps } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Button } from './channel.ts';
import type { Kit } from './kit.ts';

export interface Reply {
  readonly chatId: string;
  /** Names the reply within its run. */
  readonly name: string;
  readonly markdown: string;
  /** Under the last piece. */
  readonly buttons?: readonly Button[];
}

/** What became of a reply: all of it arrived, some of it perhaps did, or it could not be sent. */
export type Delivered = 'sent' | 'maybe_sent' | 'given_up';

/** A channel that is down for a quarter of an hour loses no reply. */
const sending: StepSettings = { retry: { retries: 20, firstMs: 1000, maxMs: 60_000 }, timeoutMs: 60_000 };

/**
 * Sends a reply, each piece as a step of its own and through the outbox, so that none is sent twice whatever dies
 * meanwhile. A piece that may have arrived is not sent again.
 */
export async function deliver(kit: Kit, steps: Steps, reply: Reply): Promise<Delivered> {
  const pieces = kit.channel.pieces(reply.markdown);
  let delivered: Delivered = 'sent';
  for (const [index, piece] of pieces.entries()) {
    const name = `${reply.name}/${index + 1}`;
    const buttons = index === pieces.length - 1 ? (reply.buttons ?? []) : [];
    const key = outboxKey(steps, name);
    try {
      const { value } = await steps.run(
        name,
        async ({ signal }) => {
          const send = (planned: typeof piece) =>
            kit.channel.send(reply.chatId, planned, { signal, buttons });
          return (await kit.outbox.deliver(key, reply.chatId, piece, send)).state;
        },
        sending,
      );
      if (value !== 'sent') delivered = value;
      if (value === 'given_up') return value;
    } catch (thrown) {
      const error = rethrowStop(thrown);
      kit.report(error, `reply ${key}`);
      await steps.run(`${name}/given-up`, () => kit.outbox.giveUp(key, error.toJSON()));
      return 'given_up';
    }
  }
  return delivered;
}

/** The name of a piece for ever. */
function outboxKey(steps: Steps, name: string): string {
  return `${steps.runId}/${name}`;
}

/** Who is told to stop does not make up for what failed: that is for whoever goes on. */
export function rethrowStop(thrown: unknown): AgentError {
  const error = AgentError.from(thrown);
  if (error.kind === 'aborted') throw error;
  return error;
}
