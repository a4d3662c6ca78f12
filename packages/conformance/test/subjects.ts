import { systemRuntime } from '@cobbler/agent';
import { createAgent, fetchTransport } from '@cobbler/agent/provider';
import { scriptCapabilities, scriptModel, scriptTesting, scriptWire } from '@cobbler/agent/testing';
import { http } from 'msw';
import type { ContractSubject } from '../src/agent/setup/subject.ts';
import type { MockedSubject } from '../src/msw/index.ts';
import { helioTesting } from './made-up-wire/helio/testing.ts';
import { createHelio } from './made-up-wire/helio/wire.ts';
import { createLanternWithPasses } from './made-up-wire/passes.ts';
import { lanternTesting } from './made-up-wire/testing.ts';
import { createLantern } from './made-up-wire/wire.ts';

/** The scripted wire, which is the simplest one. A failure with it is a failure of `createAgent`. */
export const scripted: MockedSubject = {
  name: 'scripted',
  create: ({ baseURL, apiKey, ...options }) =>
    createAgent(scriptWire({ baseURL, apiKey }), {
      model: scriptModel,
      capabilities: scriptCapabilities,
      ...options,
    }),
  testing: scriptTesting,
  handlers: (baseURL, service) => [http.post(`${baseURL}/ask`, service)],
};

/** The scripted wire over the global fetch, which browsers, workers and other runtimes use. */
export const fetching: ContractSubject = {
  ...scripted,
  name: 'fetch',
  create: (link) => scripted.create({ transport: fetchTransport(systemRuntime.fetch), ...link }),
};

/** A service whose protocol differs from all real ones. */
export const lantern: MockedSubject = {
  name: 'made up',
  create: createLantern,
  testing: lanternTesting,
  handlers: (baseURL, service) => [http.post(`${baseURL}/v0/converse`, service)],
};

/** The same service, whose passes expire. */
export const lanternWithPasses: MockedSubject = {
  ...lantern,
  name: 'made up with passes',
  create: createLanternWithPasses,
  rotates: true,
};

/** A service with binary frames, which are checked, and with signed requests. */
export const helio: MockedSubject = {
  name: 'made up in binary',
  create: createHelio,
  testing: helioTesting,
  rotates: true,
  handlers: (baseURL, service) => [http.post(`${baseURL}/mirrors/:model/flash`, service)],
};
