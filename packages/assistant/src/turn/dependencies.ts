import type { Agent, AgentError, Gate, Runtime, Tool } from '@cobbler/agent';
import type { Runner } from '@cobbler/agent/runner';
import type { Channel } from '../channel/channel.ts';
import type { MemoryIndex } from '../memory/memory-index.ts';
import type { RememberOptions } from '../memory/remember.ts';
import type { MessageStore } from '../storage/chat-message.ts';
import type { ChatStore, RateLimit } from '../storage/chat-store.ts';
import type { EventStore } from '../storage/event-store.ts';
import type { Outbox } from '../storage/outbox.ts';

/** Dependencies of an assistant. */
export interface AssistantOptions {
  readonly agent: Agent;
  readonly channel: Channel;
  readonly messages: MessageStore;
  readonly chats: ChatStore;
  readonly outbox: Outbox;
  /** The logs of turns: what the model was asked and said, what tools did. */
  readonly turns: EventStore;
  /** The runner for the work that `receive` starts. A function, because it needs the routine first. */
  readonly runner: () => Pick<Runner, 'start' | 'signal' | 'cancel'>;
  /** Default: nothing is remembered beyond the messages that the model sees. */
  readonly memory?: MemoryIndex;
  readonly tools?: readonly Tool[];
  /** Default: tools that only read run, all others are asked about. */
  readonly gate?: Gate;
  /** The persona of the assistant. Default: a friendly, brief one. */
  readonly persona?: string;
  /** For people who have not set theirs. Default UTC. */
  readonly timeZone?: string;
  /** Maximum tool calls of a turn, after which the model must respond with what it has. Default 5. */
  readonly toolCalls?: number;
  /** Time limit for an approval, in milliseconds. Default one hour. */
  readonly approvalMs?: number;
  /** Default: 20 turns a minute for each person. */
  readonly rateLimit?: RateLimit;
  /** When older messages go into memory. */
  readonly remember?: RememberRule;
  readonly runtime?: Runtime;
  /** Receives errors that no user sees. Default: ignored. */
  readonly report?: (error: AgentError, where: string) => void;
}

/** When older messages are summarised and put into memory. */
export type RememberRule = Pick<RememberOptions, 'threshold' | 'keep'>;

/** The same with every default filled in. */
export interface AssistantDependencies extends AssistantOptions {
  readonly tools: readonly Tool[];
  readonly gate: Gate;
  readonly persona: string;
  readonly timeZone: string;
  readonly toolCalls: number;
  readonly approvalMs: number;
  readonly rateLimit: RateLimit;
  readonly runtime: Runtime;
  readonly report: (error: AgentError, where: string) => void;
}
