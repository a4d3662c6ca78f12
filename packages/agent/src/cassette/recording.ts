import type { Blobs } from '../interfaces/blobs.ts';
import type { Gate } from '../interfaces/gate.ts';
import type { Price, Pricing } from '../interfaces/limits.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { Transport } from '../provider/wire/transport.ts';
import type { Wire } from '../provider/wire/wire.ts';
import type { Run, RunControl } from '../run/run.ts';
import { readStore } from '../store/open-session.ts';
import type { Store } from '../store/store.ts';
import { callable, data, listOf, read, text, withMethods } from '../values/input.ts';
import type { JsonObject } from '../values/json.ts';
import type { UserPart } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';
import { runEffect } from './effect.ts';
import { plain, plainFields } from './plain.ts';
import type { Ports } from './ports.ts';
import { recordedBlobs, recordedGate, recordedStore, recordedWire } from './recorded-parts.ts';
import { recordedRuntime } from './recorded-runtime.ts';
import { recordedTool } from './recorded-tool.ts';
import { recordedTransport } from './recorded-transport.ts';

/**
 * The connection between a run and the outside world: a recorder writes all inputs to a cassette, and a player
 * delivers the same inputs again. Both have the same interface, so one line decides whether a test records or replays.
 *
 * Everything that a run waits for must go through the recording. Give the agent and the executor its runtime and
 * transport, and wrap tools, gates and asynchronous stores with the methods below. A tool that sends model requests
 * through this transport does not need to be wrapped, because its requests are already recorded. Tools use the real
 * runtime internally.
 */
export interface Recording {
  readonly runtime: Runtime;
  readonly transport: Transport;
  tools(tools: readonly Tool[]): Tool[];
  gate(gate: Gate): Gate;
  /** Needed for stores that return promises. During a replay the store saves its events as usual. */
  store(store: Store): Store;
  pricing(pricing: Pricing): Pricing;
  /** Needed for blobs that return promises, such as blobs in files. During a replay they store data as usual. */
  blobs(blobs: Blobs): Blobs;
  /**
   * Needed for a custom wire with its own `send` method, for example one that uses a vendor's client. During a
   * replay, that method is not called.
   */
  wire(wire: Wire): Wire;
  /**
   * The only way to cancel and steer a recorded run and to answer its approval requests; its `signal` option is not recorded.
   * A replay repeats the recorded actions, and the same action by the program has no further effect.
   */
  control(run: Pick<Run<unknown>, 'id' | keyof RunControl>): RecordingControl;
  /**
   * Returns a fact that the run depends on, as JSON stores it: a prompt, a setting, today's date. `make` is called
   * when recording, and during a replay for a fact that was not recorded.
   */
  fact<Value>(name: string, make: () => Value): Value;
  /** Lets the clock catch up after work that a program does between two runs. */
  moment(name: string): Promise<void>;
  /**
   * Checks the replay. Call it after all runs have ended.
   * @throws AgentError `agent`, code `replay_miss`, if the replay differed from the recording or ended before it.
   */
  check(): void;
}

/** The ways to control a recorded run: cancel, steer and decide. */
export interface RecordingControl {
  cancel(): void;
  steer(content: string | readonly UserPart[]): void;
  decide(...given: Parameters<RunControl['decide']>): void;
}

/** The real runtime, transport and network function that a recording uses. */
export interface RecordingSources {
  readonly runtime: Runtime;
  readonly transport: Transport;
  readonly fetch: Runtime['fetch'];
}

const recordable = withMethods<Tool>('execute');
const controllable = withMethods<Pick<Run<unknown>, 'id' | keyof RunControl>>('cancel', 'steer', 'decide');

/** Creates a recording whose inputs arrive through these ports. */
export function createRecording(ports: Ports, { runtime, transport, fetch }: RecordingSources): Recording {
  const taken = recordedRuntime(ports, runtime, fetch);
  const over = (real: Transport) => recordedTransport(ports, real, (text) => runtime.digest(text));
  return {
    runtime: taken,
    transport: over(transport),
    wire: (wire) => recordedWire(read(wire, withMethods<Wire>('turn', 'event'), 'wire'), over),
    tools: (tools) => read(tools, listOf(recordable), 'tools').map((tool) => recordedTool(ports, tool)),
    gate: (gate) => recordedGate(ports, read<Gate>(gate, callable, 'gate')),
    store: (store) => recordedStore(ports, read(store, readStore, 'store')),
    blobs: (blobs) => recordedBlobs(ports, read(blobs, withMethods<Blobs>('put', 'get'), 'blobs')),
    pricing: (pricing) => (provider, model, inputTokens) => {
      const find = (): Price | null => pricing(provider, model, inputTokens) ?? null;
      // The price of some models depends on the length of the request.
      const request = inputTokens === undefined ? '' : ` for ${inputTokens} tokens`;
      return ports.fact(`price of ${provider}:${model}${request}`, find) ?? undefined;
    },
    control: (run) => controlOf(ports, read(run, controllable, 'run')),
    fact: (name, make) => ports.fact(read(name, text, 'name'), read<typeof make>(make, callable, 'make')),
    moment: async (name) => {
      const effect = { run: () => undefined, write: () => ({ done: true }), read: () => undefined };
      await runEffect(ports, ports.ask('moment', { name: read(name, text, 'name') }), effect);
    },
    check: () => ports.check(),
  };
}

function controlOf(ports: Ports, run: Pick<Run<unknown>, 'id' | keyof RunControl>): RecordingControl {
  const { put } = ports.open(`run ${run.id}`, { take: (data) => obey(run, data) });
  return {
    cancel: () => put({ cancel: true }),
    steer: (content) => put({ steer: plain(read(content, data, 'content')) }),
    decide: (approvalId, answer) =>
      put({ approvalId, answer: plainFields(read<typeof answer>(answer, data, 'answer')) }),
  };
}

function obey(run: Pick<Run<unknown>, keyof RunControl>, data: JsonObject): void {
  const { cancel, steer, approvalId, answer } = data;
  if (cancel === true) run.cancel();
  else if (steer !== undefined) run.steer(steer as unknown as string | readonly UserPart[]);
  else run.decide(String(approvalId), answer as unknown as Parameters<RunControl['decide']>[1]);
}
