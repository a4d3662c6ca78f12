import type { ModelResponse } from '@cobbler/agent';
import { AgentError, userMessage } from '@cobbler/agent';
import type { Transport } from '@cobbler/agent/provider';
import type { ProviderTesting, ScriptAnswer, SeededRandom } from '@cobbler/agent/testing';
import {
  ContractFailure,
  callBlock,
  expect,
  expectEqual,
  fakeRuntime,
  framed,
  joinFrames,
  replies,
  scriptResponse,
  seededRandom,
  show,
} from '@cobbler/agent/testing';
import { randomResponse } from '../../random/random-response.ts';
import { expectResponse, wellFormed } from '../setup/compare.ts';
import { lookUp, put } from '../setup/request-parts.ts';
import { askOnce, contractKey, errorOf } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';
import type { Seeds } from './laws.ts';
import type { Content, DamagedResponse } from './loss-content.ts';
import { contentOf, damagedContent, touchesContent, unbroken } from './loss-content.ts';
import type { Mutation, ScriptFrame } from './mutations.ts';
import {
  fieldMutationsOf,
  insertionsOf,
  mutationsOf,
  novel,
  repetitionsOf,
  scriptFrames,
} from './mutations.ts';

const the = group('losses');

/** Number of damaged streams for each seed of a run with fewer than 100 seeds. */
const streamsPerSeed = 50;

/** Counts of damaged streams by their outcome. */
interface LossCounts {
  /** The response is the same as that of the undamaged stream. */
  same: number;
  /** The content is the same, but the model or the usage in the envelope could not be read. */
  described: number;
  /** The content is the same, and the change is kept in data that is stored and sent back. */
  kept: number;
  /** The response is the same, and reports that its usage is unknown. */
  uncounted: number;
  /** The response failed with a typed error, or the damaged call must not run. */
  failed: number;
  /** A chunk of content was lost, repeated or moved on a wire that sends nothing to compare it with. */
  undetectable: number;
}

/** Responses with all kinds of blocks and ends. */
function scriptedResponses({ lacks }: ProviderTesting): ScriptAnswer[] {
  const thought = {
    type: 'reasoning' as const,
    text: 'First this, then that.',
    ...(lacks.seal === undefined && { seal: 'sealed' }),
  };
  const thoughts = lacks.reasoning === undefined ? [thought] : [];
  const [look, save] = [
    callBlock('call_1', 'look_up', { word: 'one two three' }),
    callBlock('call_2', 'put', { value: 'once' }),
  ];
  return [
    scriptResponse(['One two three.']),
    scriptResponse([...thoughts, 'Four\n\nfive   six.']),
    scriptResponse([...thoughts, 'Seven.', look, save]),
    scriptResponse([look, callBlock('call_3', 'put', {})]),
    scriptResponse([callBlock('call_4', 'put', '')]),
    scriptResponse(['Cut here'], { stop: 'max_tokens' }),
    scriptResponse(['No.'], { stop: 'refusal' }),
    scriptResponse([], { usage: { inputTokens: 9, outputTokens: 3 } }),
    ...(lacks.interleaving === undefined ? [scriptResponse(['Before.', look, 'After.'])] : []),
  ];
}

/** Answers every request with the stream that is due. */
class DamagedService {
  mutation: Pick<Mutation, 'frames' | 'invalidByte'> = { frames: [] };
  readonly #testing: ProviderTesting;

  constructor(testing: ProviderTesting) {
    this.#testing = testing;
  }

  #bytes(): Uint8Array {
    const { frames, invalidByte } = this.mutation;
    const parts = frames.map(({ payload }) => framed([payload], this.#testing));
    const part = parts[invalidByte?.frame ?? -1];
    if (invalidByte !== undefined && part !== undefined) {
      const at = Math.floor(invalidByte.at * (part.length - 2));
      parts[invalidByte.frame] = Uint8Array.from([...part.subarray(0, at), 0xff, ...part.subarray(at)]);
    }
    return joinFrames(parts);
  }

  readonly transport: Transport = () => {
    const bytes = this.#bytes();
    const headers: Record<string, string> = { 'content-type': this.#testing.contentType };
    return Promise.resolve({
      status: 200,
      headerNames: Object.keys(headers),
      header: (name) => headers[name],
      read: async (onChunk) => onChunk(bytes),
      close: () => {},
    });
  };
}

/** A way to damage streams, and what the responses may be. */
interface Damage {
  mutations(
    frames: readonly ScriptFrame[],
    random: SeededRandom,
    testing: ProviderTesting,
  ): readonly Mutation[];
  outcome(subject: ContractSubject, damaged: DamagedResponse, found: Content): keyof LossCounts | undefined;
}

/** Damages each response in each way, and checks the outcome of each damaged stream. */
async function damageAll(
  subject: ContractSubject,
  { first = 1, count = 100 }: Seeds,
  damage: Damage,
): Promise<LossCounts> {
  const { testing } = subject;
  const service = new DamagedService(testing);
  const runtime = fakeRuntime();
  const agent = subject.create({
    baseURL: 'http://127.0.0.1:1',
    apiKey: contractKey,
    runtime,
    transport: service.transport,
    retry: { retries: 0 },
  });
  const ask = (mutation: Pick<Mutation, 'frames' | 'invalidByte'>) => {
    service.mutation = mutation;
    return agent.run({ messages: [userMessage('Hello.')], tools: [lookUp, put] });
  };
  const random = Array.from({ length: count }, (_, at) =>
    randomResponse(seededRandom(first + at), testing.lacks),
  );
  const answers = [...scriptedResponses(testing), ...random];
  const damaged = answers.flatMap((answer, at) =>
    damage
      .mutations(scriptFrames(answer, testing, at % 2 === 1), seededRandom(first + at), testing)
      .map((mutation) => ({ answer, mutation })),
  );
  const every = count < 100 ? Math.max(1, Math.floor(damaged.length / (count * streamsPerSeed))) : 1;
  const counts: LossCounts = { same: 0, described: 0, kept: 0, uncounted: 0, failed: 0, undetectable: 0 };
  const wholes = new Map<ScriptAnswer, Content>();
  for (let at = 0; at < damaged.length; at += every) {
    const { answer, mutation } = damaged[at] ?? { answer: scriptResponse([]), mutation: undefined };
    if (mutation === undefined) break;
    let whole = wholes.get(answer);
    if (whole === undefined) {
      const response = await ask({ frames: scriptFrames(answer, testing, false) });
      expectResponse(response, answer, testing);
      whole = contentOf(response, testing);
      wholes.set(answer, whole);
    }
    counts[await outcomeOf(subject, { answer, mutation, whole }, ask(mutation), damage)] += 1;
  }
  expect(runtime.timers === 0, `no timer left, found ${runtime.timers}`);
  return counts;
}

/** Returns how a damaged stream ended. Fails if the response is wrong or shorter without an error. */
async function outcomeOf(
  subject: ContractSubject,
  damaged: DamagedResponse,
  asked: Promise<ModelResponse>,
  damage: Damage,
): Promise<keyof LossCounts> {
  const { testing } = subject;
  const { mutation, whole } = damaged;
  let found: Content;
  try {
    found = contentOf(await asked, testing);
  } catch (error) {
    // A changed field can be read as a failure that the service reports.
    if (AgentError.is(error) && (error.kind === 'network' || damage === changed)) return 'failed';
    throw new ContractFailure(`${mutation.what}: expected a network error, found ${String(error)}`);
  }
  // Calls that must not run are failures of these calls.
  const calls = found.calls.map((call, at) => (call.problem === undefined ? call : whole.calls[at]));
  const outcome =
    damage.outcome(subject, damaged, found) ??
    (isEqual({ ...found, calls }, whole) && !isEqual(found, whole) ? 'failed' : undefined);
  if (outcome !== undefined) return outcome;
  const frames = new TextDecoder().decode(
    framed(
      mutation.frames.map(({ payload }) => payload),
      testing,
    ),
  );
  throw new ContractFailure(
    `${mutation.what}: expected the same response or a network error, found ${show(found)} instead of ${show(whole)}. The stream:\n${frames}`,
  );
}

function isEqual(left: object, right: object): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Deletes, repeats and swaps frames. */
const moved: Damage = {
  mutations: mutationsOf,
  outcome({ testing }, damaged, found) {
    const { answer, mutation, whole } = damaged;
    if (isEqual(found, whole)) return 'same';
    const none = { inputTokens: 0, outputTokens: 0 };
    if (isEqual({ ...found, usage: none }, { ...whole, usage: none }))
      if (found.usage.inputTokens + found.usage.outputTokens === 0) return 'uncounted';
    if (testing.lacks['whole-content'] === undefined || !touchesContent(mutation, answer, testing))
      return undefined;
    const meant = damagedContent(found, damaged, testing);
    const isSealDamaged = mutation.touched.some(({ step }) => step?.type === 'seal');
    const left = isSealDamaged ? { ...meant, seals: found.seals } : meant;
    return unbroken(JSON.stringify(found)) === unbroken(JSON.stringify(wellFormed(left)))
      ? 'undetectable'
      : undefined;
  },
};

/** Repeats frames that the service sends once: none of these streams is a response. */
const repeated: Damage = {
  mutations: (frames, _random, testing) => repetitionsOf(frames, testing.once),
  outcome: () => undefined,
};

/** Changes names and types of fields, adds fields, and breaks characters. */
const changed: Damage = {
  mutations: fieldMutationsOf,
  outcome({ testing }, { mutation, whole }, found) {
    if (isEqual(found, whole)) return mutation.invalidByte === undefined ? 'same' : undefined;
    const { usage, model, text, seals, calls } = whole;
    const described = { ...found, usage, model };
    if (testing.lacks['argument-chunks'] !== undefined && mutation.invalidByte === undefined) {
      // The fields of arguments that arrive as an object are content. None of them may be lost.
      const named = found.calls.map((call, at) => ({ ...call, arguments: calls[at]?.arguments }));
      const count = (call: { arguments: object } | undefined) => Object.keys(call?.arguments ?? {}).length;
      const hasAll = found.calls.every((call, at) => count(call) >= count(calls[at]));
      if (hasAll && isEqual({ ...found, calls: named }, whole)) return 'undetectable';
    }
    if (isEqual(described, whole)) return 'described';
    const isShown = found.text.includes(novel);
    const isSent = found.seals.some((seal) => /zz_novel|7|true/.test(JSON.stringify(seal)));
    if (isShown && isEqual({ ...described, text }, whole)) return 'kept';
    if (isSent && isEqual({ ...described, seals }, whole)) return 'kept';
    // The stop reason says that the end could not be read, so no call runs.
    const isUnknown =
      found.stopReason === 'unknown' && found.calls.every(({ problem }) => problem !== undefined);
    return isUnknown && isEqual({ ...described, calls, stopReason: whole.stopReason }, whole)
      ? 'failed'
      : undefined;
  },
};

/** Inserts data of unknown kinds. */
const inserted: Damage = {
  mutations: (frames, random, testing) => insertionsOf(frames, testing.unknown(), random),
  outcome(_subject, { mutation: { frames }, whole }, found) {
    const end = frames.findIndex(({ step }) => step?.type === 'end');
    const at = frames.findLastIndex(({ step }) => step === undefined);
    return at > end && isEqual({ ...found, usage: whole.usage }, whole) ? 'same' : undefined;
  },
};

/** Returns the cases that damage streams, with these seeds; `print` receives the counts. */
export function lossCases(seeds: Seeds, print: (line: string) => void = () => {}): readonly CaseDefinition[] {
  return [
    the('data of an unknown kind makes the response invalid and is named [P27]', async (subject) => {
      const unknown = subject.testing.unknown();
      expect(unknown.length > 0, 'at least one payload of an unknown kind with data from `unknown`');
      const answer = scriptResponse(['One two three.', callBlock('call_1', 'put', { value: 'once' })]);
      for (const payload of unknown) {
        const edit = (all: readonly unknown[]) => [...all.slice(0, 2), payload, ...all.slice(2)];
        const { outcome } = await askOnce(subject, replies(answer, { edit }), {}, { retry: { retries: 0 } });
        const { kind, code } = errorOf(outcome);
        expectEqual([kind, code], ['network', 'garbled'], `the error after ${JSON.stringify(payload)}`);
      }
    }),
    the('a response of empty blocks is not complete [P27]', async (subject) => {
      const { outcome } = await askOnce(
        subject,
        replies(scriptResponse([''])),
        {},
        { retry: { retries: 0 } },
      );
      expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
    }),
    the('a deleted, repeated or swapped frame gives the same response or an error [P27]', async (subject) =>
      print(report(subject, 'damaged streams', await damageAll(subject, seeds, moved))),
    ),
    the(
      'a repeated frame that the service sends only once makes the response invalid [P27]',
      async (subject) =>
        print(report(subject, 'streams with a frame sent twice', await damageAll(subject, seeds, repeated))),
    ),
    ...halvesOf(seeds).map((half, at) =>
      the(
        `a field of another name or type gives the same response or an error${at === 0 ? '' : ', with more responses'} [P27]`,
        async (subject) =>
          print(report(subject, 'streams with changed fields', await damageAll(subject, half, changed))),
      ),
    ),
    the(
      'data of an unknown kind at any place before the end makes the response invalid [P27]',
      async (subject) =>
        print(report(subject, 'streams with unknown data', await damageAll(subject, seeds, inserted))),
    ),
  ];
}

/** Many seeds take two cases, so that none of them comes near the time limit of a case on a busy machine. */
function halvesOf({ first = 1, count = 100 }: Seeds): readonly Seeds[] {
  const half = Math.ceil(count / 2);
  return count < 10
    ? [{ first, count }]
    : [
        { first, count: half },
        { first: first + half, count: count - half },
      ];
}

function report({ name }: ContractSubject, what: string, counts: LossCounts): string {
  const { same, described, kept, uncounted, failed, undetectable } = counts;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `${name}: ${total} ${what}: ${same} the same response, ${described} with another model or usage, ${kept} kept, ${uncounted} without usage, ${failed} failed, ${undetectable} undetectable on this wire`;
}
