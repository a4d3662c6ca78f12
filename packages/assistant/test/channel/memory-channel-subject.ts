import { AgentError } from '@cobbler/agent';
import type { PlannedFailure } from '../../src/channel/memory-channel.ts';
import { memoryChannel } from '../../src/channel/memory-channel.ts';
import type { ChannelFault, ChannelSubject } from '../../src/testing/index.ts';

const failures: Partial<Record<ChannelFault, PlannedFailure>> = {
  limit: {
    error: new AgentError({ kind: 'rate_limit', message: 'Too many.', retryable: true, retryAfterMs: 7000 }),
  },
  blocked: { error: new AgentError({ kind: 'invalid', code: 'chat_gone', message: 'Blocked.' }) },
  down: { error: new AgentError({ kind: 'network', message: 'Down.', retryable: true }) },
};

const notHere = 'messages never leave the process';

/** The in-memory channel, for `channelContract`. */
export const memorySubject: ChannelSubject = {
  name: 'memory',
  longest: 1000,
  lacks: {
    markup: 'it has no markup',
    gone: notHere,
    token: notHere,
    refused: notHere,
    cut: notHere,
    lost: notHere,
    timeout: notHere,
    remove: notHere,
  },
  async open() {
    const channel = memoryChannel({ longest: 1000 });
    return {
      channel,
      chatId: 'a',
      seen: () => channel.messages,
      sends: () => channel.attempts,
      meet(fault) {
        const failure = failures[fault];
        if (failure !== undefined) channel.failNext(failure);
      },
      pass: async () => {},
      tap: (messageId) => `tap-${messageId}`,
      expireTaps() {},
      remove() {},
    };
  },
};
