import { AgentError } from '@cobbler/agent';
import type { Steps } from '@cobbler/agent/runner';
import type { AssistantDependencies } from './dependencies.ts';
import { stillWorking } from './messages.ts';

/** Time that a channel shows the typing indicator, in milliseconds. */
const typingMs = 4500;

/** Time after which a waiting user gets a message, in milliseconds. */
const longMs = 45_000;

/**
 * Shows the typing indicator, and sends one message if the reply takes long. It never fails a turn, and the message
 * is sent at most once, even across restarts.
 * @returns a function that stops the indicator
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
      const [part] = channel.pieces(stillWorking);
      const key = `${steps.runId}/still-working`;
      if (part !== undefined)
        void outbox
          .deliver(key, chatId, part, (words) => channel.send(chatId, words))
          .catch((thrown) => outbox.giveUp(key, AgentError.from(thrown).toJSON()))
          .catch(() => {});
    }
    cancel = runtime.timer(typingMs, show);
  };
  show();
  return () => cancel();
}
