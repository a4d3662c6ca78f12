import type {
  Player,
  PlayerOptions,
  RecorderOptions,
  Recording,
  RecordingControl,
} from '../../src/cassette/index.ts';
import { player, recorder } from '../../src/cassette/index.ts';
import type { RunEvent } from '../../src/events/event.ts';
import { isStored } from '../../src/events/event.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import { createAgent } from '../../src/provider/create-agent.ts';
import type { Transport } from '../../src/provider/wire/transport.ts';
import type { ExecutorOptions } from '../../src/run/options.ts';
import type { RunResult } from '../../src/run/run.ts';
import type { WireScript } from '../../src/testing/index.ts';
import {
  handlerTransport,
  scriptCapabilities,
  scriptTesting,
  scriptWire,
  seededRandom,
  wireServer,
} from '../../src/testing/index.ts';
import type { Runtime } from '../../src/values/runtime.ts';
import { systemRuntime } from '../../src/values/runtime.ts';

export const apiKey = 'sk-test-0123456789-abcdefghij';

/** Waits for one macrotask, without a clock. */
export const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Returns a runtime whose clock advances unevenly with each macrotask, by a seed. */
export function hastyRuntime(seed: number): Runtime {
  const random = seededRandom(seed);
  const timers = new Set<{ readonly at: number; readonly fire: () => void }>();
  let elapsed = 1000 * random.next();
  let ids = 0;
  let runs = false;
  const tick = () => {
    elapsed += random.next() * 20;
    const [due] = [...timers].filter(({ at }) => at <= elapsed).toSorted((one, other) => one.at - other.at);
    if (due !== undefined) {
      timers.delete(due);
      due.fire();
    }
    runs = timers.size > 0;
    if (runs) setImmediate(tick);
  };
  return {
    now: () => 1_790_000_000_000 + elapsed + random.next(),
    monotonic: () => {
      elapsed += random.next() / 100;
      return elapsed;
    },
    timer(ms, fire) {
      const timer = { at: elapsed + ms, fire };
      timers.add(timer);
      if (!runs) setImmediate(tick);
      runs = true;
      return () => timers.delete(timer);
    },
    random: () => random.next(),
    id() {
      ids += 1;
      return `${seed}-${ids}-${random.between(0, 1e9)}`;
    },
    async digest(text) {
      // Some digests finish before others that started earlier.
      for (let turns = random.between(0, 5); turns > 0; turns -= 1) await turn();
      return systemRuntime.digest(text);
    },
    fetch: () => Promise.reject(new Error('This runtime has no fetch.')),
  };
}

/** Waits for a random time on the given runtime's clock, at most `maxMs`. */
export function pause(world: Runtime, maxMs: number): Promise<void> {
  return new Promise((resolve) => void world.timer(world.random() * maxMs, resolve));
}

/** One prompt, with the script of the model and everything that happens in the run. */
export interface Scene {
  readonly script: WireScript;
  /** Creates the tools for one run over the real runtime, so that the test can count their work. */
  readonly tools?: (world: Runtime) => readonly Tool[];
  readonly options?: Omit<ExecutorOptions, 'agent' | 'tools'>;
  readonly prompt?: string;
  /** Acts as the program as soon as the run has started. */
  readonly begins?: (control: RecordingControl) => void;
  /** Acts as a program or user that reacts to an event. */
  readonly reacts?: (event: RunEvent, control: RecordingControl, world: Runtime) => void;
}

/** The outcome of a scene. */
export interface Shown {
  readonly result: RunResult;
  /** The stored events as JSON lines. */
  readonly log: string;
  /** All events that a listener received, as JSON lines. */
  readonly seen: string;
}

/** Runs a scene with a recording. */
export async function show(scene: Scene, tape: Recording, world: Runtime): Promise<Shown> {
  const events: RunEvent[] = [];
  const { gate, store, pricing, ...options } = scene.options ?? {};
  const executor = new Executor({
    ...options,
    agent: createAgent(scriptWire({ baseURL: 'https://service.test', apiKey }), {
      model: 'scripted-model',
      capabilities: scriptCapabilities,
      runtime: tape.runtime,
      transport: tape.transport,
    }),
    runtime: tape.runtime,
    tools: tape.tools(scene.tools?.(world) ?? []),
    ...(gate !== undefined && { gate: tape.gate(gate) }),
    ...(store !== undefined && { store: tape.store(store) }),
    ...(pricing !== undefined && { pricing: tape.pricing(pricing) }),
  });
  const run = executor.run(scene.prompt ?? 'Look around.', {
    onEvent: (event) => {
      events.push(event);
      if (control !== undefined) scene.reacts?.(event, control, world);
    },
  });
  const control: RecordingControl = tape.control(run);
  scene.begins?.(control);
  const result = await run;
  await turn();
  return { result, log: lines(events.filter(isStored)), seen: lines(events) };
}

function lines(events: readonly RunEvent[]): string {
  return events.map((event) => JSON.stringify(event)).join('\n');
}

/** Returns a service that plays the scene's script, with a random pause before each chunk. */
export function service(scene: Scene, world: Runtime): { transport: Transport; requests: () => number } {
  const server = wireServer(scriptTesting, scene.script, { secret: apiKey });
  const direct = handlerTransport(server.handler);
  const transport: Transport = async (request) => {
    await pause(world, 300);
    const response = await direct(request);
    const read = async (onChunk: (bytes: Uint8Array) => void) => {
      let told: Promise<void> = Promise.resolve();
      const tell = (bytes: Uint8Array) => {
        told = told.then(() => pause(world, 30)).then(() => onChunk(bytes));
      };
      await response.read(tell).finally(() => told);
    };
    return { ...response, read };
  };
  return { transport, requests: () => server.exchanges.length };
}

/** Records a scene. */
export async function record(
  scene: Scene,
  seed = 1,
  options: Partial<RecorderOptions> = {},
): Promise<Shown & { readonly cassette: string }> {
  const world = hastyRuntime(seed);
  let cassette = '';
  const tape = recorder({
    runtime: world,
    transport: service(scene, world).transport,
    turn,
    ...options,
    write: (line) => {
      cassette += line;
    },
  });
  const shown = await show(scene, tape, world);
  return { ...shown, cassette };
}

/** Replays a scene in a different runtime from the one of the recording. */
export async function replay(
  scene: Scene,
  cassette: string,
  options: PlayerOptions = {},
): Promise<Shown & { readonly tape: Player }> {
  const world = hastyRuntime(999);
  const tape = player(cassette, { runtime: world, turn, ...options });
  return { ...(await show(scene, tape, world)), tape };
}
