import type { Message, ModelResponse } from '@cobbler/agent';
import type { ReadPart, ReadRequest, ScriptAnswer } from '@cobbler/agent/testing';
import {
  ContractFailure,
  expect,
  expectEqual,
  replies,
  scriptResponse,
  seededRandom,
} from '@cobbler/agent/testing';
import { randomHistory } from '../../random/random-history.ts';
import { randomReply } from '../../random/random-response.ts';
import { randomText } from '../../random/random-value.ts';
import { expectResponse, wellFormed } from '../setup/compare.ts';
import { resultsFor, user } from '../setup/request-parts.ts';
import type { WireFixture } from '../setup/setup.ts';
import { promptly, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('laws');

/** Real-time limits for all seeds of a law and for one seed, in milliseconds. */
const lawMs = 60_000;
const caseMs = 5_000;

type ReadTurns = ReadRequest['turns'];

/** The seeds of the random cases. */
export interface Seeds {
  /** The first seed. Default 1. */
  readonly first?: number;
  /** The number of seeds. Default 100. */
  readonly count?: number;
}

/** Checks a law with each seed on one fixture. An error names its seed. */
async function forSeeds(
  { first = 1, count = 100 }: Seeds,
  slack: number | undefined,
  attempt: (seed: number) => Promise<void>,
): Promise<void> {
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      await promptly(attempt(seed), caseMs * (slack ?? 1));
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      throw new ContractFailure(
        `seed ${seed}: ${what} (to run this seed only: seeds: { first: ${seed}, count: 1 })`,
      );
    }
  }
}

/** The provider reads what the mock wire writes. */
async function responsesAreRead(subject: ContractSubject, seeds: Seeds): Promise<void> {
  const { testing } = subject;
  let reply = replies(scriptResponse([]));
  await withSetup(
    subject,
    () => reply,
    async (setup) => {
      await forSeeds(seeds, subject.slack, async (seed) => {
        reply = randomReply(seededRandom(seed), testing.lacks);
        const response = responseOf(await setup.ask());
        expectEqual(response.attempts, 1, 'the attempts');
        expectResponse(response, reply.answer, testing);
        expectParts(response, reply.answer);
      });
    },
    {},
    lawMs,
  );
}

/**
 * Fails unless the message contains all blocks, complete and in order. Opaque parts beside them are ignored.
 */
function expectParts({ message }: ModelResponse, { blocks }: ScriptAnswer): void {
  const found = message.content.flatMap((part) =>
    part.type === 'opaque' ? [] : [part.type === 'tool_call' ? part.id : part.text],
  );
  const meant = blocks.map((block) => (block.type === 'call' ? block.id : block.text));
  expectEqual(wellFormed(found), wellFormed(meant), 'the parts of the message');
}

/** The mock wire reads what the provider writes. */
async function historiesAreWritten(subject: ContractSubject, seeds: Seeds): Promise<void> {
  const { testing } = subject;
  await withSetup(
    subject,
    () => replies(scriptResponse(['Fine.'])),
    async (setup) => {
      const accepted = setup.agent().capabilities.files;
      let asked = 0;
      await forSeeds(seeds, subject.slack, async (seed) => {
        const { messages, turns } = randomHistory(seededRandom(seed), testing.lacks, accepted);
        const outcome = await setup.ask({ messages });
        expectAcceptable(setup, asked);
        responseOf(outcome);
        expectEqual(neutral(setup.request(asked).turns), neutral(turns), 'the turns');
        asked += 1;
      });
    },
    {},
    lawMs,
  );
}

/**
 * The provider sends back what it has read: conversations of several responses, including seals and calls.
 */
async function conversationsComeBack(subject: ContractSubject, seeds: Seeds): Promise<void> {
  const { testing } = subject;
  let reply = replies(scriptResponse([]));
  await withSetup(
    subject,
    () => reply,
    async (setup) => {
      let asked = 0;
      await forSeeds(seeds, subject.slack, async (seed) => {
        const random = seededRandom(seed);
        let messages: Message[] = [user(randomText(random))];
        const turns: { side: 'user' | 'assistant'; parts: ReadPart[] }[] = [
          { side: 'user', parts: textParts(messages) },
        ];
        for (let rounds = random.between(1, 3); rounds >= 0; rounds -= 1) {
          reply = rounds === 0 ? replies(scriptResponse(['Fine.'])) : randomReply(random, testing.lacks);
          const outcome = await setup.ask({ messages });
          expectAcceptable(setup, asked);
          const { message } = responseOf(outcome);
          expectEqual(
            neutral(setup.request(asked).turns),
            neutral(turns),
            `the turns of request ${asked + 1}`,
          );
          asked += 1;
          const results = resultsFor(message);
          const prompt = [user(randomText(random))];
          messages = [...messages, message, ...results, ...prompt];
          turns.push({ side: 'assistant', parts: blockParts(reply.answer) });
          turns.push({ side: 'user', parts: [...resultParts(reply.answer), ...textParts(prompt)] });
        }
      });
    },
    {},
    lawMs,
  );
}

/** Fails with the reason if the service rejected the request: it says more than the error of the agent. */
function expectAcceptable(setup: WireFixture, index: number): void {
  const complaint = setup.server.exchanges[index]?.complaint;
  expect(complaint === undefined, `an acceptable request, but ${complaint}`);
}

function textParts(messages: readonly Message[]): ReadPart[] {
  return messages.flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part] : [])));
}

function blockParts({ blocks }: ScriptAnswer): ReadPart[] {
  return blocks.flatMap((block): ReadPart[] => {
    if (block.type === 'call')
      return [{ type: 'call', id: block.id, name: block.name, input: JSON.parse(block.input) }];
    if (block.type === 'text') return [block];
    return block.seal === undefined ? [] : [{ type: 'reasoning', text: block.text, seal: block.seal }];
  });
}

function resultParts({ blocks }: ScriptAnswer): ReadPart[] {
  const calls = blocks.filter((block) => block.type === 'call');
  return calls.map(({ id }, index) => ({ type: 'result', id, text: `result ${index}`, isError: false }));
}

/**
 * Returns the turns without the differences that wires may have. Adjacent texts of a turn are joined, lone
 * surrogates are replaced, files have no name, and each result id states which call of the previous turn it
 * belongs to.
 */
function neutral(turns: ReadTurns): unknown {
  return turns.map(({ side, parts }) => ({ side, parts: joinTexts(parts).map(evened) }));
}

function joinTexts(parts: readonly ReadPart[]): ReadPart[] {
  const found: ReadPart[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (part.type === 'text' && last?.type === 'text')
      found[found.length - 1] = { type: 'text', text: last.text + part.text };
    else found.push(part);
  }
  return found;
}

function evened(part: ReadPart): unknown {
  if (part.type === 'call' || part.type === 'result') return wellFormed({ ...part, id: undefined });
  if (part.type === 'file') return { type: part.type, mediaType: part.mediaType, data: part.data };
  return wellFormed(part);
}

/** Returns the law cases for these seeds. */
export function lawCases(seeds: Seeds): readonly CaseDefinition[] {
  return [
    the('any response that the mock wire writes is read correctly', (subject) =>
      responsesAreRead(subject, seeds),
    ),
    the('any valid history is written correctly', (subject) => historiesAreWritten(subject, seeds)),
    the('any conversation can be sent back unchanged', (subject) => conversationsComeBack(subject, seeds)),
  ];
}
