import type { Steps } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { AssistantDependencies } from './kit.ts';
import { stillWorking } from './words.ts';

/** How long a channel shows that somebody writes. */
const typingMs = 4500;

/** After which time somebody who waits wants to hear something. */
const longMs = 45_000;

/**
 * Shows that an answer is being written, and says so once in words when it takes long. Returns what ends it.
 * Nothing of this can fail a turn, and the words are sent at most once, whatever goes on with it.
 */
export function keepCompany(kit: AssistantDependencies, steps: Steps, chatId: string): () => void {
  const { channel, outbox, runtime } = kit;
  let cancel = () => {};
  const began = runtime.monotonic();
  let hasSpoken = false;
  const show = () => {
    void channel.typing(chatId).catch(() => {});
    if (!hasSpoken && runtime.monotonic() - began >= longMs) {
      hasSpoken = true;
      const [piece] = channel.pieces(stillWorking);
      const key = `${steps.runId}/still-working`;
      if (piece !== undefined)
        void outbox
          .deliver(key, chatId, piece, (words) => channel.send(chatId, words))
          .catch((thrown) => outbox.giveUp(key, AgentError.from(thrown).toJSON()))
          .catch(() => {});
    }
    cancel = runtime.timer(typingMs, show);
  };
  show();
  return () => cancel();
}
