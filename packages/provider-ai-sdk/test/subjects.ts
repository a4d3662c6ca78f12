import type { ContractSubject } from '@cobbler/conformance';
import type { MockedSubject } from '@cobbler/conformance/msw';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { chatTesting, responsesTesting } from '@cobbler/provider-openai/testing';
import { http } from 'msw';
import { anthropicModel } from '../src/anthropic.ts';
import { createAiSdk } from '../src/index.ts';
import { openaiModel } from '../src/openai.ts';
import type { Between } from '../src/testing/index.ts';
import {
  aiSdkContract,
  betweenAnthropic,
  betweenChat,
  betweenResponses,
  throughAiSdk,
} from '../src/testing/index.ts';

/** Factor for time limits: the SDK's streams are several times slower than reading the bytes. */
const slack = 10;

export const anthropic: ContractSubject = {
  name: 'ai-sdk anthropic',
  create: (link) => createAiSdk(anthropicModel({ env: {}, ...link })),
  testing: throughAiSdk(claudeTesting, betweenAnthropic),
  slack,
};

const responses: ContractSubject = {
  name: 'ai-sdk responses',
  create: (link) => createAiSdk(openaiModel({ env: {}, api: 'responses', ...link })),
  testing: throughAiSdk(responsesTesting, betweenResponses),
  slack,
};

/** Uses a model that accepts a temperature, like most servers with this API. */
const chat: ContractSubject = {
  name: 'ai-sdk chat',
  create: (link) => createAiSdk(openaiModel({ env: {}, api: 'chat', model: 'llama3.3', ...link })),
  testing: throughAiSdk(chatTesting, betweenChat),
  slack,
};

/** Returns the subject with msw handlers, without the cases that the SDK makes impossible. */
function under(subject: ContractSubject, between: Between, path: string): MockedSubject {
  return {
    ...subject,
    handlers: (baseURL, service) => [http.post(`${baseURL}${path}`, service)],
    contract: (over, options) => aiSdkContract(over, between, options),
  };
}

/** The subjects of the contract and the mutants. */
export const subjects: readonly MockedSubject[] = [
  under(anthropic, betweenAnthropic, '/messages'),
  under(responses, betweenResponses, '/responses'),
  under(chat, betweenChat, '/chat/completions'),
];
