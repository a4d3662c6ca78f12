import type { Agent } from '@cobbler/agent';
import type { Transport } from '@cobbler/agent/provider';
import { createAiSdk } from '@cobbler/provider-ai-sdk';
import { anthropicModel } from '@cobbler/provider-ai-sdk/anthropic';
import { openaiModel } from '@cobbler/provider-ai-sdk/openai';
import {
  betweenAnthropic,
  betweenChat,
  betweenResponses,
  throughAiSdk,
} from '@cobbler/provider-ai-sdk/testing';
import { createClaude } from '@cobbler/provider-claude';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { createOpenAI } from '@cobbler/provider-openai';
import { chatTesting, responsesTesting } from '@cobbler/provider-openai/testing';
import type { PromptCache } from './caches.ts';
import { BreakpointCache, MarkedCache, StepCache } from './caches.ts';
import type { VirtualClock } from './clock.ts';
import { chatPrompt, messagesPrompt, responsesPrompt } from './prompt.ts';
import type { ServiceParts } from './service.ts';

/** The wire and the cache rules of a service. */
export type SubjectName =
  | 'claude'
  | 'openai responses'
  | 'openai chat'
  | 'openai steps'
  | 'ai-sdk anthropic'
  | 'ai-sdk responses'
  | 'ai-sdk chat';

/** A provider and the service that replaces its real one. */
export interface Subject extends Pick<ServiceParts, 'testing' | 'prompt'> {
  readonly name: SubjectName;
  readonly cache: () => PromptCache;
  readonly agent: (transport: Transport, runtime: VirtualClock) => Agent;
  /**
   * True if the service counts the input before it responds, so that the input of a cut response is known exactly.
   */
  readonly countsEarly: boolean;
}

const apiKey = 'sk-ledger';

/** All providers with the models of their aliases; the last one has an earlier model. */
export const subjects: readonly Subject[] = [
  {
    name: 'claude',
    testing: claudeTesting,
    prompt: messagesPrompt,
    cache: () => new MarkedCache(),
    agent: (transport, runtime) => createClaude({ env: {}, apiKey, transport, runtime }),
    countsEarly: true,
  },
  {
    name: 'openai responses',
    testing: responsesTesting,
    prompt: responsesPrompt,
    cache: () => new BreakpointCache(),
    agent: (transport, runtime) => createOpenAI({ env: {}, apiKey, transport, runtime }),
    countsEarly: false,
  },
  {
    name: 'openai chat',
    testing: chatTesting,
    prompt: chatPrompt,
    cache: () => new BreakpointCache(),
    agent: (transport, runtime) => createOpenAI({ env: {}, apiKey, transport, runtime, api: 'chat' }),
    countsEarly: false,
  },
  {
    name: 'openai steps',
    testing: responsesTesting,
    prompt: responsesPrompt,
    cache: () => new StepCache(),
    agent: (transport, runtime) => createOpenAI({ env: {}, apiKey, transport, runtime, model: 'gpt-5.1' }),
    countsEarly: false,
  },
];

/** The AI SDK's providers, whose requests have no cache marks, so that only their totals are of interest. */
export const bridged: readonly Subject[] = [
  {
    name: 'ai-sdk anthropic',
    testing: throughAiSdk(claudeTesting, betweenAnthropic),
    prompt: messagesPrompt,
    cache: () => new MarkedCache(),
    agent: (transport, runtime) => createAiSdk(anthropicModel({ env: {}, apiKey, transport, runtime })),
    countsEarly: true,
  },
  {
    name: 'ai-sdk responses',
    testing: throughAiSdk(responsesTesting, betweenResponses),
    prompt: responsesPrompt,
    cache: () => new BreakpointCache(),
    agent: (transport, runtime) =>
      createAiSdk(openaiModel({ env: {}, apiKey, transport, runtime, api: 'responses' })),
    countsEarly: false,
  },
  {
    name: 'ai-sdk chat',
    testing: throughAiSdk(chatTesting, betweenChat),
    prompt: chatPrompt,
    cache: () => new BreakpointCache(),
    agent: (transport, runtime) =>
      createAiSdk(openaiModel({ env: {}, apiKey, transport, runtime, api: 'chat', model: 'gpt-4.1' })),
    countsEarly: false,
  },
];

export function subject(name: SubjectName): Subject {
  const found = subjects.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no subject named ${name}.`);
  return found;
}
