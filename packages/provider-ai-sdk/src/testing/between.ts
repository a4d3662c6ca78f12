import type { ProviderTesting, RequestRules } from '@cobbler/agent/testing';

/** Differences from the service's own mock when the AI SDK is in between. */
export interface Between {
  /** The provider name of the agent. */
  readonly provider: string;
  /** Limitations of the SDK besides those of the service, each with the reason. */
  readonly lacks: ProviderTesting['lacks'];
  /** Differences in the address and headers of requests. */
  readonly request?: Partial<RequestRules>;
  /** Contract cases, by group and name, that cannot pass through the SDK's interface, each with the reason. */
  readonly impossible: Readonly<Record<string, string>>;
}

const arguments16MiB = 'arguments: arguments of 16 MiB use no more memory than the limit allows [P11]';
const gathers = 'the SDK keeps the whole text of the arguments itself, in addition to the chunks it emits';

const continuedCall = 'blocks: a call that continues after it was closed never runs [P9]';
const dropsRest = 'the SDK silently drops data for a closed call';

/** `@ai-sdk/anthropic`, the Messages API. */
export const betweenAnthropic: Between = {
  provider: 'ai-sdk.anthropic.messages',
  request: {
    headers: { 'anthropic-version': '2023-06-01' },
    key: { header: 'x-api-key' },
  },
  lacks: { interleaving: 'the SDK writes the calls of a turn after all of its text, whatever their order' },
  impossible: {
    [arguments16MiB]: gathers,
    [continuedCall]: dropsRest,
    'frames: 20,000 pings before a response are ignored':
      'the SDK drops the response when its first event is of an unknown kind',
  },
};

/** `@ai-sdk/openai`, the Responses API. */
export const betweenResponses: Between = {
  provider: 'ai-sdk.openai.responses',
  lacks: {},
  impossible: { [continuedCall]: dropsRest },
};

/** `@ai-sdk/openai`, Chat Completions. */
export const betweenChat: Between = {
  provider: 'ai-sdk.openai.chat',
  lacks: {
    reasoning: 'the SDK does not read `reasoning_content`, where compatible servers send reasoning',
  },
  impossible: {
    [arguments16MiB]: gathers,
    'arguments: a tool name of any length or characters leaves a history that services accept [P9]':
      'the SDK silently drops calls without a tool name',
  },
};
