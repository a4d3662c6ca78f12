import type { Agent, AgentError, Budget, Gate, Pricing, Runtime, Tool } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import { any, callable, count, listOf, record, text, when } from '@cobbler/agent/input';
import type { Runner } from '@cobbler/agent/runner';
import type { Channel } from '../channel/channel.ts';
import { readChannel } from '../channel/channel.ts';
import type { MemoryIndex } from '../memory/memory-index.ts';
import { readMemoryIndex } from '../memory/memory-index.ts';
import type { RememberOptions } from '../memory/remember.ts';
import { rememberReaders } from '../memory/remember.ts';
import type { MessageStore } from '../storage/chat-message.ts';
import { readMessages } from '../storage/chat-message.ts';
import type { ChatStore, RateLimit } from '../storage/chat-store.ts';
import { readChats, readRateLimit } from '../storage/chat-store.ts';
import type { EventStore } from '../storage/event-store.ts';
import { readTurns } from '../storage/event-store.ts';
import type { Outbox } from '../storage/outbox.ts';
import { readOutbox } from '../storage/outbox.ts';
import { isTimeZone } from './system-prompt.ts';

/** Dependencies of an assistant. */
export interface AssistantOptions {
  readonly agent: Agent;
  readonly channel: Channel;
  readonly messages: MessageStore;
  readonly chats: ChatStore;
  readonly outbox: Outbox;
  /** The logs of turns: model requests, responses and tool calls. */
  readonly turns: EventStore;
  /** The runner of the runs that `receive` starts. A function, because the runner needs the workflow first. */
  readonly runner: () => Pick<Runner, 'start' | 'signal' | 'cancel'>;
  /** Default: nothing is remembered except the messages that the model sees. */
  readonly memory?: MemoryIndex;
  readonly tools?: readonly Tool[];
  /** Default: tools that only read run without approval, and all others require it. */
  readonly gate?: Gate;
  /** The persona of the assistant. Default: a friendly, brief one. */
  readonly persona?: string;
  /** Time zone of users who have not set one. Default UTC. */
  readonly timeZone?: string;
  /** Maximum number of tool calls of a turn, after which the model must reply with the results so far. Default 5. */
  readonly toolCalls?: number;
  /** Time limit for an approval, in milliseconds. Default one hour. */
  readonly approvalMs?: number;
  /** Default: 20 turns per minute and user. */
  readonly rateLimit?: RateLimit;
  /**
   * Returns the budget of a user, whose turns end with a reply when it is reached. A budget of a store limits all turns
   * of a day, for example. Default: none.
   */
  readonly budget?: (userId: string) => Promise<Budget | undefined>;
  /**
   * The ids of users who can let a budget spend more: their turns ask them when a budget is reached. Default: none, so that
   * such a turn ends.
   */
  readonly admins?: readonly string[];
  /** The prices of the models, for the costs in the logs and for budgets that limit money. Default: no price is known. */
  readonly pricing?: Pricing;
  /** When older messages are summarized and added to the memory. */
  readonly remember?: RememberRule;
  readonly runtime?: Runtime;
  /** Receives errors that no user sees. Default: ignored. */
  readonly report?: (error: AgentError, where: string) => void;
}

/** Settings that determine when older messages are summarized and added to the memory. */
export type RememberRule = Pick<RememberOptions, 'threshold' | 'keep'>;

/** The options, with all defaults filled in. */
export interface AssistantDependencies extends AssistantOptions {
  readonly tools: readonly Tool[];
  readonly gate: Gate;
  readonly persona: string;
  readonly timeZone: string;
  readonly toolCalls: number;
  readonly approvalMs: number;
  readonly rateLimit: RateLimit;
  readonly admins: readonly string[];
  readonly runtime: Runtime;
  readonly report: (error: AgentError, where: string) => void;
}

/** Reads the options of an assistant. The executor reads those that it is given. */
export const readOptions: Reader<AssistantOptions> = record<AssistantOptions>(
  {
    agent: any,
    channel: readChannel,
    messages: readMessages,
    chats: readChats,
    outbox: readOutbox,
    turns: readTurns,
    runner: callable,
    memory: readMemoryIndex,
    tools: any,
    gate: callable,
    persona: text,
    timeZone: when(
      (value) => typeof value === 'string' && isTimeZone(value),
      'an IANA time zone, such as Europe/Berlin',
    ),
    toolCalls: count,
    approvalMs: count,
    rateLimit: readRateLimit,
    budget: callable,
    admins: listOf(text),
    pricing: callable,
    remember: record<RememberRule>(rememberReaders),
    runtime: any,
    report: callable,
  },
  ['agent', 'channel', 'messages', 'chats', 'outbox', 'turns', 'runner'],
);
