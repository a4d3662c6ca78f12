import type { ErrorKind } from '@cobbler/agent';
import type { MockReply, SeededRandom } from '@cobbler/agent/testing';
import {
  ContractFailure,
  expect,
  expectOneOf,
  framesOf,
  joinFrames,
  replies,
  scriptResponse,
  seededRandom,
} from '@cobbler/agent/testing';
import type { Unsupported } from '../../random/random-response.ts';
import { randomReply, randomResponse } from '../../random/random-response.ts';
import { randomText, randomValue } from '../../random/random-value.ts';
import { encodeChunks, lastChunk, onSocket, rawParts } from '../setup/raw-responses.ts';
import { continueConversation, user } from '../setup/request-parts.ts';
import type { Outcome, WireFixture } from '../setup/setup.ts';
import { withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group, socketGroup } from '../setup/subject.ts';
import type { Seeds } from './laws.ts';

const the = group('fuzz');

/** Real-time limit for all seeds, in milliseconds. */
const limitMs = 60_000;

/** Allowed error kinds for a corrupted response. Never a cancel or a tool failure. */
const understood: readonly ErrorKind[] = [
  'network',
  'agent',
  'rate_limit',
  'invalid',
  'auth',
  'timeout',
  'limit',
];

const fine = replies(scriptResponse(['Fine.']));

/** Excludes reasoning and seals: only the service can tell if a changed seal is valid. */
function unsealed({ testing }: ContractSubject): Unsupported {
  return { ...testing.lacks, reasoning: 'excluded here', seal: 'excluded here' };
}

/**
 * Sends a request that gets a corrupted response. The result must be a known error or a response with which
 * the conversation can continue.
 */
async function survives(
  subject: ContractSubject,
  { first = 1, count = 100 }: Seeds,
  spoiled: (random: SeededRandom) => MockReply,
): Promise<void> {
  let next: MockReply = fine;
  const script = () => next;
  await withSetup(
    subject,
    script,
    async (setup) => {
      for (let seed = first; seed < first + count; seed += 1) {
        next = spoiled(seededRandom(seed));
        const outcome = await setup.ask({ messages: [user('Go.')] });
        next = fine;
        await checkSeed(setup, seed, outcome);
      }
    },
    { retry: { retries: 0 } },
    limitMs,
  );
}

async function checkSeed(setup: WireFixture, seed: number, { response, error }: Outcome): Promise<void> {
  try {
    if (response === undefined) return expectOneOf(error?.kind, understood, 'the kind of the error');
    const usable = response.toolCalls.filter(({ problem }) => problem === undefined);
    expect(
      usable.length === 0 || response.stopReason === 'tool_use',
      `no runnable call when the response stopped as ${response.stopReason}`,
    );
    const after = await setup.ask({ messages: continueConversation([user('Go.')], response.message) });
    const complaint = setup.server.exchanges.at(-1)?.complaint;
    expect(complaint === undefined, `the service to accept the response sent back, but ${complaint}`);
    expect(after.response !== undefined, `the next response, found ${after.error?.message}`);
  } catch (failure) {
    const what = failure instanceof Error ? failure.message : String(failure);
    throw new ContractFailure(`seed ${seed}: ${what}`);
  }
}

/** Returns the payloads with one to three changes: a value is replaced, removed, duplicated or moved. */
function spoiledPayloads(random: SeededRandom, payloads: readonly unknown[]): unknown[] {
  const list = structuredClone([...payloads]);
  for (let changes = random.between(1, 3); changes > 0 && list.length > 0; changes -= 1) {
    const at = random.between(0, list.length - 1);
    const kind = random.between(0, 9);
    if (kind === 0) list.splice(at, 1);
    else if (kind === 1) list.splice(at, 0, structuredClone(list[at]));
    else if (kind === 2) list.splice(random.between(0, list.length - 1), 0, ...list.splice(at, 1));
    else if (kind === 3) list.splice(at, 0, randomValue(random, 3));
    else list[at] = spoiledValue(random, list[at]);
  }
  return list;
}

/** Returns the value with a random part of it replaced. */
function spoiledValue(random: SeededRandom, value: unknown): unknown {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (keys.length === 0 || random.chance(0.15)) return anything(random);
  const key = random.pick(keys);
  const from = value as Record<string, unknown>;
  // A future version may add kinds, and some wires must send them back unchanged. So no unknown type string
  // is used.
  if (key === 'type') {
    from[key] = random.pick([null, 0, [], {}]);
    return value;
  }
  if (random.chance(0.1)) delete from[key];
  else from[key] = spoiledValue(random, from[key]);
  return value;
}

/** Returns a value that has caused confusion before, or a random one. */
function anything(random: SeededRandom): unknown {
  const odd = [
    null,
    true,
    false,
    0,
    -1,
    0.5,
    1e308,
    '',
    ' ',
    '0',
    'null',
    '__proto__',
    'constructor',
    [],
    {},
    [null],
    [[]],
    { type: null },
    { length: -1 },
  ];
  return random.chance(0.7) ? random.pick(odd) : randomValue(random, 2);
}

/** Returns the bytes with some of them flipped, removed, duplicated or invented. */
function spoiledBytes(random: SeededRandom, given: Uint8Array): Uint8Array {
  let bytes = [...given];
  for (let changes = random.between(1, 4); changes > 0; changes -= 1) {
    const at = random.between(0, bytes.length);
    const some = bytes.slice(at, at + random.between(1, 30));
    const kind = random.between(0, 4);
    if (kind === 0) bytes[at] = random.between(0, 255);
    else if (kind === 1) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.between(0, 7));
    else if (kind === 2) bytes.splice(at, some.length);
    else if (kind === 3) bytes.splice(at, 0, ...some);
    else bytes.splice(at, 0, ...new TextEncoder().encode(randomText(random, 1)));
    if (random.chance(0.05)) bytes = bytes.slice(0, at);
  }
  return Uint8Array.from(bytes);
}

/** Changes bytes anywhere in an HTTP response, including its headers. */
async function anyByte(subject: ContractSubject, { first = 1, count = 100 }: Seeds): Promise<void> {
  for (let seed = first; seed < first + count; seed += 20) {
    const spoiled = Array.from({ length: Math.min(20, first + count - seed) }, (_, index) => {
      const random = seededRandom(seed + index);
      const { head, body, length } = rawParts(randomResponse(random, subject.testing.lacks), subject.testing);
      const coding = random.chance(0.5)
        ? [`content-length: ${length}\r\n\r\n`, body]
        : ['transfer-encoding: chunked\r\n\r\n', encodeChunks([body]), lastChunk];
      const bytes = spoiledBytes(random, joinFrames([`${head}\r\n`, ...coding]));
      // Each response closes its connection, so no request waits for another.
      return { bytes: [bytes], ending: 'end' as const };
    });
    await onSocket(
      subject,
      // If a connection ends during the next request, that request is sent once more.
      spoiled.flatMap((answer) => [answer, answer]),
      async ({ ask }) => {
        for (const index of spoiled.keys()) {
          const { response, error } = await ask();
          if (response === undefined)
            expectOneOf(error?.kind, understood, `the kind of the error with seed ${seed + index}`);
        }
      },
      { retry: { retries: 0 } },
    );
  }
}

/** Returns the cases that corrupt responses at random, with these seeds. */
export function fuzzCases(seeds: Seeds): readonly CaseDefinition[] {
  return [
    the('corrupted payloads give a known error or a response that can be sent back [P1, P12]', (subject) =>
      survives(subject, seeds, (random) => ({
        ...randomReply(random, unsealed(subject)),
        edit: (payloads) => spoiledPayloads(random, payloads),
      })),
    ),
    the('corrupted bytes give a known error or a response that can be sent back [P1, P12]', (subject) =>
      survives(subject, seeds, (random) => {
        const { testing } = subject;
        const frames = framesOf(randomReply(random, unsealed(subject)), testing);
        const bytes = spoiledBytes(random, joinFrames(frames));
        const headers = { ...testing.head?.headers, 'content-type': testing.contentType };
        return { type: 'raw', status: 200, headers, body: [bytes] };
      }),
    ),
    socketGroup('fuzz')('corrupted HTTP gives a known error or a response [P18]', (subject) =>
      anyByte(subject, seeds),
    ),
  ];
}
