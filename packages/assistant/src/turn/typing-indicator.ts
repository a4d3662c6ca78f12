import { AgentError } from '@cobbler/agent';
import type { Steps } from '@cobbler/agent/runner';
import type { AssistantDependencies } from './dependencies.ts';
import { stillWorking } from './messages.ts';

/** Time that a channel shows the typing indicator. */
const typingMs = 4500;

/** Time after which a waiting user gets a message. */
const longMs = 45_000;

/**
 * Shows the typing indicator, and sends one message when the reply takes long. Returns a function that ends it. It
 * never fails a turn, and the message is sent at most once, also across restarts.
 */
export function showTyping(dependencies: AssistantDependencies, steps: Steps, chatId: string): () => void {
  const { channel, outbox, runtime } = dependencies;
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
