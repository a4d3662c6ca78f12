import type { Usage } from '@cobbler/agent';
import { noUsage } from '@cobbler/agent';
import { isObject } from '@cobbler/agent/provider';
import type { ScriptAnswer } from '@cobbler/agent/testing';
import { blockSteps, chunksOf, framed, scriptTesting, splitText, textOfBlock } from '@cobbler/agent/testing';
import type { Choices } from './choices.ts';

/** A frame of a response, and its end offset in the body. */
export interface PayloadFrame {
  readonly payload: unknown;
  readonly bytes: Uint8Array;
  readonly end: number;
}

/** Returns all frames of a complete response. */
export function framesOf(answer: ScriptAnswer, choices: Choices): PayloadFrame[] {
  const deltas = choices.between('deltas', 1, 3);
  const steps = answer.blocks.flatMap((block, at) =>
    blockSteps(block, at, splitText(textOfBlock(block), deltas)),
  );
  const content = [...steps, { type: 'end' as const }].flatMap((step) => scriptTesting.line(step, answer));
  const payloads = [...scriptTesting.begin(answer), ...content];
  const noise = choices.whether('noise', 0.2) ? scriptTesting.noise() : [];
  return joinFrames([...noise, ...payloads, ...noise.slice(0, 1)]);
}

/** Joins frames. */
export function joinFrames(payloads: readonly unknown[]): PayloadFrame[] {
  let end = 0;
  return payloads.map((payload) => {
    const bytes = framed([payload], scriptTesting);
    end += bytes.length;
    return { payload, bytes, end };
  });
}

/** Splits the bytes of frames into network chunks. */
export function splitFrames(frames: readonly PayloadFrame[], choices: Choices): Uint8Array[] {
  const whole = frames.map(({ bytes }) => bytes);
  const cut = choices.among<'whole' | 'payload' | 'anywhere'>('chunks', [
    [3, 'whole'],
    [2, 'payload'],
    [1, 'anywhere'],
  ]);
  return chunksOf(whole, cut === 'anywhere' ? { seed: choices.between('cuts', 1, 1000) } : cut);
}

/** The content of a response, as far as these payloads contain it. */
export interface ReceivedResponse {
  readonly usage: Usage;
  /** Length of the text in code units. */
  readonly size: number;
  /** True if the response reached its end. */
  readonly ended: boolean;
}

export function receivedFrom(payloads: readonly unknown[]): ReceivedResponse {
  let usage = noUsage;
  let size = 0;
  let ended = false;
  for (const payload of payloads) {
    if (!isObject(payload)) {
      if (typeof payload === 'string') break;
      continue;
    }
    const word = payload['do'];
    if (isObject(payload['counts'])) usage = { ...usage, ...(payload['counts'] as Partial<Usage>) };
    if (word === 'fail' && !ended) break;
    if (typeof payload['delta'] === 'string' && spoken.has(word) && !ended) size += payload['delta'].length;
    if (word === 'end') ended = true;
  }
  return { usage, size, ended };
}

/**
 * Returns the usage to charge for a failed response. Its output tokens are the larger of the reported count and an
 * estimate from the text received.
 */
export function wastedIn({ usage, size }: ReceivedResponse): Usage {
  const estimate = Math.ceil(size / 4);
  return estimate > usage.outputTokens ? { ...usage, outputTokens: estimate, estimated: true } : usage;
}

const spoken: ReadonlySet<unknown> = new Set(['text', 'reasoning', 'input']);
