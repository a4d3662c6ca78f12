import { systemRuntime } from '@cobbler/agent';
import type { ContractCase } from '@cobbler/agent/testing';
import { agentContract } from '../agent/agent-contract.ts';
import type { AgentLink, ContractSubject } from '../agent/setup/subject.ts';
import type { MockedSubject } from './mocked-subject.ts';
import { overNode } from './over-node.ts';

const noStream =
  'the result of a batch arrives as a whole: it has no stream that could break, stall or be odd';
const hours = 'a batch takes hours: the tests of the batches cancel it, and let a request time out';
const ownHttp =
  'a batch is sent, checked and read with fetch by several requests, which have tests of their own';

/** The groups of cases that no batch can have. */
const groups: Readonly<Record<string, string>> = {
  ...{ arguments: noStream, ends: noStream, frames: noStream, framing: noStream, losses: noStream },
  ...{ cancel: hours, clock: hours, waits: hours },
  ...{ bodies: ownHttp, connection: ownHttp, hostile: ownHttp, network: ownHttp },
};

const lost = 'a request that is lost with its batch reports no usage, and no part of a response';
const named = 'it names the provider without batches, so that a session can change between both';
const parsed = 'a result contains finished blocks and calls, not their deltas';

/** The cases of other groups that no batch can have, by group and name. */
const cases: Readonly<Record<string, string>> = {
  'answers: request id and rate limits of the response are read, if the service sends them':
    'a result has no headers',
  'stream: text is emitted before the rest of the response arrives': noStream,
  'stream: a response is complete at its end, even if the connection stays open [P2]': noStream,
  'usage: the usage of a failed attempt is separate from that of the response [P14]': lost,
  'usage: the usage of several failed attempts adds up [P14]': lost,
  'usage: uncounted output of a failed attempt is estimated and marked as such': lost,
  'usage: an error contains the usage of all its attempts': lost,
  'request: contains the model of the agent [S0.2]':
    'the provider of the agent has the price of batches, and the requests are those of the other one',
  'seals: a seal contains the name of its provider': named,
  'retries: a response that is cut off is retried three times, then the last error is returned [P5]':
    noStream,
  'retries: after a retry only the text of the last attempt counts [P8]': lost,
  'faults: a service that fails in the middle of every response is requested four times [P5]': noStream,
  'secrets: the key does not appear when it is declared as the content encoding [P19]': ownHttp,
  'status: status 407 is invalid and not retried, whatever hint it has [P6]': ownHttp,
  'status: status 421 is invalid and not retried, whatever hint it has [P6]': ownHttp,
  'blocks: a block index reused for another kind of block loses neither block, or is an error': parsed,
  'redirects: a redirect whose body never ends is still reported [P6]': hours,
};

/**
 * Returns the cases of the contract for an agent that sends its requests in batches, over a local server. Cases that need a
 * stream are off, with the reason.
 * @param own the reasons of cases that the results of this service cannot express, by group and name.
 */
export function batchCases(
  subject: MockedSubject,
  own: Readonly<Record<string, string>> = {},
): readonly ContractCase[] {
  const { transport: _, ...network } = overNode(subject).network ?? {};
  const impossible = { ...cases, ...own };
  const all = agentContract({ ...subject, network } as ContractSubject, { seeds: { count: 3 } });
  return all.map((one) => {
    const off = one.off ?? groups[one.group] ?? impossible[`${one.group}: ${one.name}`];
    return off === undefined ? one : { ...one, off };
  });
}

/** The options of an agent that sends batches. */
export type BatchLink = Omit<AgentLink, 'transport'> & {
  readonly env: Readonly<Record<string, string>>;
  readonly collectMs: number;
  readonly pollMs: number;
};

/** Returns the options of an agent whose batches are collected and checked without a pause, over the network of this process. */
export function withoutPauses({ transport: _, runtime = systemRuntime, ...link }: AgentLink): BatchLink {
  const fetch: typeof runtime.fetch = (input, init) => systemRuntime.fetch(input, init);
  const timer: typeof runtime.timer = (ms, fire) =>
    ms === 0 ? systemRuntime.timer(0, fire) : runtime.timer(ms, fire);
  // A fake clock has properties that change.
  const own: typeof runtime = Object.create(runtime, { fetch: { value: fetch }, timer: { value: timer } });
  return { ...link, env: {}, collectMs: 0, pollMs: 0, runtime: own };
}

/** Returns the payloads of a streamed response, up to the first that is malformed or missing. */
export async function payloadsOf(response: Response): Promise<readonly Record<string, unknown>[]> {
  const payloads: Record<string, unknown>[] = [];
  try {
    for (const line of (await response.text()).split(/\r?\n/)) {
      const data = line.slice(5).trim();
      if (line.startsWith('data:') && data !== '[DONE]') payloads.push(JSON.parse(data));
    }
  } catch {
    // What follows is lost.
  }
  return payloads;
}
