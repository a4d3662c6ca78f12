import type { Agent, Pricing } from '@cobbler/agent';
import type { LiveReply, Loopback, MockReply } from '@cobbler/agent/testing';
import {
  framesOf,
  LiveStream,
  replies,
  responseSteps,
  serveLoopback,
  wireServer,
} from '@cobbler/agent/testing';
import { createClaude } from '@cobbler/provider-claude';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import type { Clock } from '../terminal/io.ts';
import type { FailureContext } from '../view/failure.ts';
import { scriptedAnswer, scriptedModel } from './script.ts';

/** The scripted model, served on this machine. */
export interface DemoModel {
  readonly url: string;
  readonly agent: Agent;
  readonly pricing: Pricing;
  readonly failure: Omit<FailureContext, 'verbose'>;
  close(): Promise<void>;
}

/**
 * Starts the scripted model and creates the vendor's real client for it.
 *
 * @param clock see {@link serveScriptedModel}
 */
export async function demoModel(clock: Clock | undefined): Promise<DemoModel> {
  const { url, close } = await serveScriptedModel(clock);
  return {
    url,
    agent: createClaude({ model: scriptedModel, apiKey: 'no-key-needed', baseURL: url, env: {} }),
    pricing: () => ({ input: 0, output: 0 }),
    failure: { host: new URL(url).host, model: scriptedModel, provider: 'claude' },
    close,
  };
}

/** Simulated delays: before a response, and per few characters. */
const firstMs = 450;
const chunkMs = 24;
const chunkLength = 7;

/**
 * Serves the scripted model on a port of this machine, in the format of the Messages API. It rejects requests that
 * the real service would reject.
 *
 * @param clock paces responses like those of a real model; without it they are sent immediately.
 */
async function serveScriptedModel(clock: Clock | undefined): Promise<Loopback> {
  const server = wireServer(claudeTesting, (request): MockReply => {
    const answer = scriptedAnswer(request);
    if (clock === undefined) return replies(answer);
    const letters = answer.blocks.reduce(
      (max, block) => Math.max(max, block.type === 'call' ? 0 : block.text.length),
      0,
    );
    const steps = responseSteps(answer, Math.max(1, Math.ceil(letters / chunkLength)));
    return inTime(framesOf(replies(answer, { steps }), claudeTesting), clock);
  });
  return await serveLoopback(server.handler);
}

/** Streams a response frame by frame while the client is connected. */
function inTime(frames: readonly Uint8Array[], clock: Clock): LiveReply {
  const stream = new LiveStream();
  let stop: () => void = () => undefined;
  const send = (index: number) => {
    const frame = frames[index];
    if (frame === undefined) return stream.end();
    stream.send(frame);
    stop = clock.after(chunkMs, () => send(index + 1));
  };
  stop = clock.after(firstMs, () => send(0));
  void stream.left.then(() => stop());
  return { type: 'live', stream };
}
