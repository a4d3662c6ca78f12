import { describe, expect, it } from 'vitest';
import type { Agent, Event, ModelRequest, RunEvent } from '../../src/index.ts';
import { defineTool, Executor, memoryStore } from '../../src/index.ts';
import { createAgent } from '../../src/provider/index.ts';
import type { MockReply, SeededRandom } from '../../src/testing/index.ts';
import {
  callBlock,
  failsWith,
  handlerTransport,
  replies,
  responseSteps,
  scriptCapabilities,
  scriptResponse,
  scriptTesting,
  scriptWire,
  seededRandom,
  serveReply,
} from '../../src/testing/index.ts';
import { systemRuntime } from '../../src/values/runtime.ts';

/** Returns one reply of any kind: text, calls, a failure, a stream that is cut off. */
function reply(random: SeededRandom, place: number): MockReply {
  const text = { type: 'text', text: `Part ${place}.` } as const;
  const call = callBlock(`call_${place}`, 'look', { place });
  const answer = scriptResponse(random.chance(0.5) ? [text, call] : [text], { model: 'model' });
  const kind = random.next();
  if (kind < 0.7) return replies(answer);
  if (kind < 0.85) return failsWith({ kind: 'agent', message: 'Try again.' });
  const steps = responseSteps(answer).filter(({ type }) => type !== 'end');
  return replies(answer, { steps, ending: 'reset' });
}

/** Plays a script of this seed. Ids, times and delays do not differ between two plays. */
async function play(seed: number, adapt: (agent: Agent) => Agent, stopAt?: number) {
  const random = seededRandom(seed);
  let ids = 0;
  const runtime = {
    ...systemRuntime,
    now: () => 0,
    monotonic: () => 0,
    random: () => 0,
    id: () => {
      ids += 1;
      return `id-${ids}`;
    },
  };
  let place = 0;
  const transport = handlerTransport(({ signal }) => {
    place += 1;
    return serveReply(reply(random, place), { testing: scriptTesting, secret: '', signal });
  });
  const wire = scriptWire({ baseURL: 'http://script.invalid', apiKey: 'no-key' });
  const agent = createAgent(wire, {
    model: 'model',
    capabilities: scriptCapabilities,
    runtime,
    transport,
    retry: { retries: 2, baseMs: 0 },
  });
  const look = defineTool({ name: 'look', description: 'Looks.', parameters: {}, execute: () => 'Seen.' });
  const store = memoryStore();
  const live: RunEvent[] = [];
  const executor = new Executor({ agent: adapt(agent), tools: [look], runtime, store, limits: { turns: 6 } });
  const run = executor.run('Go.', { sessionId: 'one', runId: 'run' });
  run.subscribe((event) => {
    live.push(event);
    if (live.length === stopAt) run.cancel();
  });
  await run.result;
  const log: readonly Event[] = await store.read('one');
  return { log, live };
}

const direct = (agent: Agent): Agent => agent;
const wrapped = (agent: Agent): Agent => ({
  ...agent,
  run: (request: ModelRequest, context) => agent.run(request, context),
});

describe('an agent of createAgent in an executor', () => {
  it('gives the same events as one whose function is wrapped, whatever the service does', async () => {
    for (let seed = 1; seed <= 30; seed += 1)
      expect(await play(seed, direct), `seed ${seed}`).toEqual(await play(seed, wrapped));
  });

  it('gives the same log when the run is cancelled at any event, and no event of a response after that', async () => {
    for (let stopAt = 2; stopAt <= 14; stopAt += 1) {
      const [one, other] = [await play(3, direct, stopAt), await play(3, wrapped, stopAt)];
      expect(one.log, `event ${stopAt}`).toEqual(other.log);
      expect(one.live.slice(stopAt).map(({ type }) => type)).toEqual(
        other.live.slice(stopAt).map(({ type }) => type),
      );
    }
  });
});
