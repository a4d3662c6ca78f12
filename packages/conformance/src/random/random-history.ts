import type { AssistantMessage, AssistantPart, Message, ToolResultMessage, UserPart } from '@cobbler/agent';
import { callsOf } from '@cobbler/agent';
import type { Seal } from '@cobbler/agent/provider';
import { hasMediaType } from '@cobbler/agent/provider';
import type { ReadPart, ReadRequest, SeededRandom } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import type { Unsupported } from './random-response.ts';
import { randomArguments, randomSeal, randomText } from './random-value.ts';

const foreign: Seal = { provider: 'somebody-else', data: 'FOREIGN' };

type ReadTurn = ReadRequest['turns'][number];

/** A valid history, and the turns that any wire must make of it. */
export interface RandomHistory {
  readonly messages: readonly Message[];
  readonly turns: readonly ReadTurn[];
}

/**
 * Returns a random valid history that another provider could have made: files, reasoning, calls with
 * duplicate or unusual ids, results out of order.
 */
export function randomHistory(
  random: SeededRandom,
  lacks: Unsupported,
  accepted: readonly string[],
): RandomHistory {
  const messages: Message[] = [];
  const turns: ReadTurn[] = [];
  let user: ReadPart[] = addUser(random, accepted, messages);
  for (let rounds = random.between(0, 4); rounds > 0; rounds -= 1) {
    turns.push({ side: 'user', parts: user });
    const made = randomAssistant(random, turns.length);
    messages.push(made.message);
    turns.push({ side: 'assistant', parts: made.parts });
    const results = randomResults(random, made.message, lacks);
    messages.push(...shuffledByCall(random, results));
    user = results.map(readResult);
    if (user.length === 0 || random.chance(0.3)) user = [...user, ...addUser(random, accepted, messages)];
  }
  turns.push({ side: 'user', parts: user });
  return { messages, turns };
}

/** Types of files, their frequencies and names. */
const files: readonly (readonly [mediaType: string, chance: number, name?: string])[] = [
  ['image/png', 0.1],
  ['application/pdf', 0.05, 'some.pdf'],
];

function addUser(random: SeededRandom, accepted: readonly string[], messages: Message[]): ReadPart[] {
  const parts: UserPart[] = [];
  for (let count = random.between(1, 2); count > 0; count -= 1) {
    if (random.chance(0.15)) messages.push({ role: 'user', content: [{ type: 'text', text: '' }] });
    const content = [randomUserPart(random, accepted)];
    parts.push(...content);
    messages.push({ role: 'user', content });
  }
  return parts.map(readUserPart);
}

function randomUserPart(random: SeededRandom, accepted: readonly string[]): UserPart {
  const data = randomSeal(random);
  for (const [mediaType, chance, name] of files) {
    if (hasMediaType(accepted, mediaType) && random.chance(chance))
      return { type: 'file', mediaType, data, ...defined({ name }) };
  }
  return { type: 'text', text: randomText(random) };
}

function readUserPart(part: UserPart): ReadPart {
  if (part.type === 'text') return { type: 'text', text: part.text.toWellFormed() };
  return { type: part.type, mediaType: part.mediaType, data: part.data };
}

interface RandomTurn {
  readonly message: AssistantMessage;
  readonly parts: readonly ReadPart[];
}

function randomAssistant(random: SeededRandom, turn: number): RandomTurn {
  const content: AssistantPart[] = [];
  const parts: ReadPart[] = [];
  if (random.chance(0.4)) content.push(randomThought(random));
  if (random.chance(0.2)) content.push({ type: 'opaque', seal: foreign });
  const text = randomText(random);
  content.push({ type: 'text', text });
  parts.push({ type: 'text', text: text.toWellFormed() });
  // Ids that repeat in later turns or within one, or contain characters that services reject.
  const ids = [`call_${turn}`, 'call_same', 'toolu_01.x|y', ''];
  for (let count = random.between(0, 3); count > 0; count -= 1) {
    const args = randomArguments(random);
    const problem = random.chance(0.1) ? 'The arguments are invalid.' : undefined;
    const [id, toolName] = [random.pick(ids), random.pick(['look_up', 'put'])];
    content.push({
      type: 'tool_call',
      id,
      toolName,
      arguments: args,
      ...defined({ problem }),
    });
    parts.push({ type: 'call', id, name: toolName, input: problem === undefined ? args : {} });
  }
  return { message: { role: 'assistant', content }, parts };
}

/** Reasoning without a seal or with a seal of another provider: neither is sent back. */
function randomThought(random: SeededRandom): AssistantPart {
  const thought = { type: 'reasoning', text: randomText(random, 2) } as const;
  return random.chance(0.5) ? thought : { ...thought, seal: foreign };
}

function randomResults(
  random: SeededRandom,
  message: AssistantMessage,
  lacks: Unsupported,
): ToolResultMessage[] {
  return callsOf(message).map(({ id }) => ({
    role: 'tool_result',
    toolCallId: id,
    content: [{ type: 'text', text: randomText(random) }],
    ...(lacks['error-results'] === undefined && random.chance(0.3) && { isError: true }),
  }));
}

function readResult({ toolCallId, content, isError = false }: ToolResultMessage): ReadPart {
  const text = content.map((part) => (part.type === 'text' ? part.text.toWellFormed() : '')).join('');
  return { type: 'result', id: toolCallId, text, isError };
}

/**
 * Orders the results at random. Results with the same id keep their order, because nothing else distinguishes
 * them.
 */
function shuffledByCall(random: SeededRandom, results: readonly ToolResultMessage[]): ToolResultMessage[] {
  const ids = [...new Set(results.map(({ toolCallId }) => toolCallId))];
  const order = ids.map((id) => ({ id, at: random.next() })).sort((left, right) => left.at - right.at);
  return order.flatMap(({ id }) => results.filter(({ toolCallId }) => toolCallId === id));
}
