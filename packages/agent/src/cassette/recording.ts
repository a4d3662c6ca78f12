import type { Blobs } from '../interfaces/blobs.ts';
import type { Gate } from '../interfaces/gate.ts';
import type { Price, Pricing } from '../interfaces/limits.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { Run, RunControl } from '../loop/run.ts';
import type { Transport } from '../provider/wire/transport.ts';
import type { Wire } from '../provider/wire/wire.ts';
import type { Store } from '../store/store.ts';
import type { JsonObject } from '../values/json.ts';
import type { UserPart } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';
import { taped } from './effect.ts';
import { plain, plainFields } from './plain.ts';
import type { Deck } from './ports.ts';
import { tapedBlobs, tapedGate, tapedStore, tapedWire } from './recorded-parts.ts';
import { tapedRuntime } from './recorded-runtime.ts';
import { tapedTool } from './recorded-tool.ts';
import { tapedTransport } from './recorded-transport.ts';

/**
 * The world of a taped run: a recorder writes down what comes in through it, a player lets the same come in
 * again. Programs use both alike, so one line decides whether a test records or replays.
 *
 * Whatever a run waits for has to be its tape's: give agent and executor this runtime and transport, and take
 * tools, gate and a store that is not done at once through the functions below. A tool that asks models
 * through this transport itself stays as it is: its effects are on the tape already. Tools keep the real
 * runtime for what they do inside.
 */
export interface Recording {
  readonly runtime: Runtime;
  readonly transport: Transport;
  tools(tools: readonly Tool[]): Tool[];
  gate(gate: Gate): Gate;
  /** Needed for stores that answer with promises. On a replay the store keeps its events as always. */
  store(store: Store): Store;
  pricing(pricing: Pricing): Pricing;
  /** Needed for blobs that answer with promises, as those in files do. On a replay they keep things as always. */
  blobs(blobs: Blobs): Blobs;
  /**
   * Needed for a wire of one's own that sends by itself (`send`), as through a vendor's client. On a replay
   * that is not called.
   */
  wire(wire: Wire): Wire;
  /**
   * The only way to cancel, steer and answer a taped run; its `signal` option is not on the tape. On a replay
   * what was done then is done again, and the same done by the program once more changes nothing.
   */
  control(run: Pick<Run<unknown>, 'id' | keyof RunControl>): RecordingControl;
  /**
   * A fact that the run depends on, as JSON keeps it: a prompt, a setting, today's date. `make` is called when
   * recording, and on a replay for a fact that was not recorded.
   */
  fact<Value>(name: string, make: () => Value): Value;
  /** Lets the clock catch up, for what a program does between two runs. */
  moment(name: string): Promise<void>;
  /**
   * To be called when all is over.
   * @throws AgentError `agent`, code `replay_miss`, when a replay differed or ended before its recording did.
   */
  check(): void;
}

/** What flows back from those who watch a taped run. */
export interface RecordingControl {
  cancel(): void;
  steer(content: string | readonly UserPart[]): void;
  decide(...given: Parameters<RunControl['decide']>): void;
}

/** The real world under a tape. */
export interface RecordingSources {
  readonly runtime: Runtime;
  readonly transport: Transport;
  readonly fetch: Runtime['fetch'];
}

/** Puts a deck behind everything that a run has of the world. */
export function tapeOver(deck: Deck, { runtime, transport, fetch }: RecordingSources): Recording {
  const taken = tapedRuntime(deck, runtime, fetch);
  const over = (real: Transport) => tapedTransport(deck, real, (text) => runtime.digest(text));
  return {
    runtime: taken,
    transport: over(transport),
    wire: (wire) => tapedWire(wire, over),
    tools: (tools) => tools.map((tool) => tapedTool(deck, tool)),
    gate: (gate) => tapedGate(deck, gate),
    store: (store) => tapedStore(deck, store),
    blobs: (blobs) => tapedBlobs(deck, blobs),
    pricing: (pricing) => (provider, model, inputTokens) => {
      const find = (): Price | null => pricing(provider, model, inputTokens) ?? null;
      // Some models have another price for long requests.
      const request = inputTokens === undefined ? '' : ` for ${inputTokens} tokens`;
      return deck.fact(`price of ${provider}:${model}${request}`, find) ?? undefined;
    },
    control: (run) => controlOf(deck, run),
    fact: (name, make) => deck.fact(name, make),
    moment: async (name) => {
      const effect = { run: () => undefined, write: () => ({ done: true }), read: () => undefined };
      await taped(deck, deck.ask('moment', { name }), effect);
    },
    check: () => deck.check(),
  };
}

function controlOf(deck: Deck, run: Pick<Run<unknown>, 'id' | keyof RunControl>): RecordingControl {
  const { put } = deck.open(`run ${run.id}`, { take: (data) => obey(run, data) });
  return {
    cancel: () => put({ cancel: true }),
    steer: (content) => put({ steer: plain(content) }),
    decide: (approvalId, answer) => put({ approvalId, answer: plainFields(answer) }),
  };
}

function obey(run: Pick<Run<unknown>, keyof RunControl>, data: JsonObject): void {
  const { cancel, steer, approvalId, answer } = data;
  if (cancel === true) run.cancel();
  else if (steer !== undefined) run.steer(steer as unknown as string | readonly UserPart[]);
  else run.decide(String(approvalId), answer as unknown as Parameters<RunControl['decide']>[1]);
}
