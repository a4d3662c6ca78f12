import type { StopReason, Usage } from '@cobbler/agent';
import type {
  Chunking,
  ResponseReply,
  ScriptAnswer,
  ScriptBlock,
  SeededRandom,
  Step,
  UnsupportedFeature,
} from '@cobbler/agent/testing';
import { blockSteps, replies, textOfBlock } from '@cobbler/agent/testing';
import { randomArguments, randomSeal, randomText } from './random-value.ts';

/** The features that a wire does not support. */
export type Unsupported = Partial<Readonly<Record<UnsupportedFeature, string>>>;

/** Returns a reply with a random response that the wire supports, sent in a random way that it allows. */
export function randomReply(random: SeededRandom, lacks: Unsupported): ResponseReply {
  const answer = randomResponse(random, lacks);
  const stepsByBlock = answer.blocks.map((block, at) =>
    blockSteps(block, at, randomChunks(random, textOfBlock(block))),
  );
  const steps =
    lacks.interleaving === undefined && random.chance(0.5)
      ? interleave(random, stepsByBlock)
      : stepsByBlock.flat();
  return replies(answer, {
    steps: [...steps, { type: 'end' }],
    noise: random.chance(0.5),
    chunks: randomChunking(random),
  });
}

/**
 * Returns a response of random blocks. Without interleaving, it contains at most one reasoning block, then at
 * most one text, then calls.
 */
export function randomResponse(random: SeededRandom, lacks: Unsupported): ScriptAnswer {
  const blocks = lacks.interleaving === undefined ? freeBlocks(random, lacks) : orderedBlocks(random, lacks);
  const calls = blocks.some(({ type }) => type === 'call');
  return {
    blocks,
    stop: calls ? 'tool_use' : randomStop(random, lacks),
    usage: randomUsage(random),
    model: `model-${random.between(1, 99)}`,
  };
}

function freeBlocks(random: SeededRandom, lacks: Unsupported): ScriptBlock[] {
  const blocks: ScriptBlock[] = [];
  const thoughts = lacks.reasoning === undefined ? random.between(0, 2) : 0;
  for (let count = thoughts; count > 0; count -= 1) blocks.push(randomThought(random, lacks));
  for (let count = random.between(1, 4); count > 0; count -= 1) {
    blocks.push(
      random.chance(0.5) ? { type: 'text', text: randomText(random) } : randomCall(random, blocks.length),
    );
  }
  return blocks;
}

function orderedBlocks(random: SeededRandom, lacks: Unsupported): ScriptBlock[] {
  const blocks: ScriptBlock[] = [];
  if (lacks.reasoning === undefined && random.chance(0.4)) blocks.push(randomThought(random, lacks));
  if (random.chance(0.7)) blocks.push({ type: 'text', text: randomText(random) });
  const min = blocks.some(({ type }) => type === 'text') ? 0 : 1;
  for (let count = random.between(min, 3); count > 0; count -= 1)
    blocks.push(randomCall(random, blocks.length));
  return blocks;
}

function randomThought(random: SeededRandom, lacks: Unsupported): ScriptBlock {
  const text = randomText(random);
  return lacks.seal === undefined && random.chance(0.7)
    ? { type: 'reasoning', text, seal: randomSeal(random) }
    : { type: 'reasoning', text };
}

function randomCall(random: SeededRandom, index: number): ScriptBlock {
  const input = JSON.stringify(randomArguments(random), null, random.pick([0, 0, 1]));
  return {
    type: 'call',
    id: `call_${index}_${random.between(100, 999)}`,
    name: random.pick(['look_up', 'put']),
    input,
  };
}

function randomStop(random: SeededRandom, lacks: Unsupported): StopReason {
  const reasons: StopReason[] = ['complete', 'complete', 'max_tokens', 'refusal', 'unknown'];
  if (lacks.pause === undefined) reasons.push('pause');
  if (lacks['context-full-stop'] === undefined) reasons.push('context_full');
  return random.pick(reasons);
}

function randomUsage(random: SeededRandom): Usage {
  const [read, write, reasoning] = [random.between(1, 900), random.between(1, 90), random.between(1, 50)];
  return {
    inputTokens: read + write + random.between(0, 4000),
    outputTokens: reasoning + random.between(1, 500),
    ...(random.chance(0.5) && { cacheReadTokens: read, cacheWriteTokens: write }),
    ...(random.chance(0.5) && { reasoningTokens: reasoning }),
  };
}

/**
 * Splits a text into deltas of random length. A cut may be inside a character, as from servers that count
 * code units.
 */
function randomChunks(random: SeededRandom, text: string): string[] {
  const found: string[] = [];
  let rest = text;
  while (rest !== '') {
    const length = random.chance(0.3) ? 1 : random.between(1, 20);
    found.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return found;
}

/** Opens the blocks in order and interleaves their deltas. */
function interleave(random: SeededRandom, stepsByBlock: readonly (readonly Step[])[]): Step[] {
  const queues = stepsByBlock.map((steps) => [...steps]);
  const steps: Step[] = [];
  let opened = 0;
  while (queues.some(({ length }) => length > 0)) {
    const ready = queues.filter(({ length }, index) => length > 0 && index <= opened);
    const queue = random.pick(ready);
    if (queue[0]?.type === 'open') opened += 1;
    steps.push(...queue.splice(0, 1));
  }
  return steps;
}

function randomChunking(random: SeededRandom): Chunking {
  const kind = random.between(0, 4);
  if (kind === 0) return 'whole';
  if (kind === 1) return 'payload';
  if (kind === 2) return { size: random.between(1, 9) };
  return { seed: random.between(1, 1_000_000) };
}
