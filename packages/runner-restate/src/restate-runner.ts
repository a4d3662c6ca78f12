import type { Json, Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import {
  amount,
  callable,
  flag,
  listOf,
  read,
  record,
  signal,
  text,
  when,
  withMethods,
} from '@cobbler/agent/input';
import type { Runner, StartOptions, Workflow, WorkflowStatus } from '@cobbler/agent/runner';
import {
  checkRunId,
  outputOf,
  readStart,
  runBusy,
  runnerClosed,
  statusOf,
  waitAborted,
} from '@cobbler/agent/runner';
import { plainJson } from '@cobbler/agent/values';
import { HandlerEndpoint } from './endpoint.ts';
import { Engine } from './engine.ts';
import type { RestateRunRecord, ServiceNames, StartResult } from './protocol.ts';
import { objectKey, serviceNames } from './protocol.ts';
import type { RunCall } from './run-call.ts';
import { handlerNames, services } from './services.ts';

/**
 * Options of {@link restateRunner}: the workflow, and how the engine and this process reach each other. All times are
 * in milliseconds.
 */
export interface RestateRunnerOptions<Input extends Json, Output extends Json> {
  readonly workflow: Workflow<Input, Output>;
  /** Ingress of the engine, such as `http://localhost:8080`; several addresses for the nodes of a cluster. */
  readonly ingress: string | readonly string[];
  /**
   * Admin API of the engine, such as `http://localhost:9070`. If set, the handlers are registered when the runner
   * opens; otherwise register them yourself.
   */
  readonly admin?: string | readonly string[];
  /** Prefix of the handler names. Each workflow needs its own. Default `cobbler`. */
  readonly service?: string;
  /** Address where this process listens for the engine. Default `127.0.0.1` and 9080; port 0 selects a free port. */
  readonly host?: string;
  readonly port?: number;
  /**
   * Address where the engine finds the handlers. All processes of one service share it, behind a load balancer,
   * because the engine keeps a run at the address where it started. Default: this process.
   */
  readonly address?: string;
  /** True if other processes of this machine listen on the same port. Requires Node 23.1 and Linux. Default false. */
  readonly reusePort?: boolean;
  /**
   * Public keys of the engines that can call the handlers, such as `publickeyv1_…`. Required if other machines can reach
   * `host`: otherwise each of them could run the workflow. `trust-network` accepts every caller, because something else
   * protects the port.
   */
  readonly identityKeys?: readonly string[] | 'trust-network';
  /** Retention of ended runs, in milliseconds. Default 30 days. */
  readonly retentionMs?: number;
  /** Time for which a waiting run keeps its connection, in milliseconds; longer than any action. Default 2 hours. */
  readonly idleMs?: number;
  /**
   * Maximum time to wait for running actions when closing, in milliseconds. Default 0: they are aborted
   * immediately.
   */
  readonly drainMs?: number;
  /** Time limit for retries when the engine does not respond, in milliseconds. Default 15,000. */
  readonly patienceMs?: number;
  /** Source of the time. Default: the real clock. */
  readonly runtime?: Runtime;
}

/** A runner on Restate. */
export interface RestateRunner<Input extends Json = Json, Output extends Json = Json>
  extends Runner<Input, Output> {
  /**
   * Resolves with the address where this process listens, after it was registered with the engine.
   * @throws AgentError code `listen` or `engine`.
   */
  ready(): Promise<string>;
  /**
   * Resolves with the address where this process listens as soon as it does, for a load balancer that must know it
   * first.
   */
  listening(): Promise<string>;
}

const addresses: Reader<string | readonly string[]> = (value) =>
  (Array.isArray(value) ? listOf(text) : text)(value);

const publicKey = when<string>(
  (value) => typeof value === 'string' && /^publickeyv1_\w+$/.test(value),
  'a public key of Restate, such as publickeyv1_…',
);

const keys: Reader<readonly string[] | 'trust-network'> = (value) =>
  value === 'trust-network' ? value : listOf(publicKey, 'a list of public keys, or "trust-network"')(value);

const readOptions = record<RestateRunnerOptions<Json, Json>>(
  {
    workflow: callable,
    ingress: addresses,
    admin: addresses,
    service: text,
    host: when((value) => typeof value === 'string' && /^[^\s\0]+$/.test(value), 'a host name or an address'),
    port: when(
      (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
      'a port from 0 to 65535',
    ),
    address: text,
    reusePort: flag,
    identityKeys: keys,
    retentionMs: amount,
    idleMs: amount,
    drainMs: amount,
    patienceMs: amount,
    runtime: withMethods('now', 'monotonic', 'timer', 'random', 'id'),
  },
  ['workflow', 'ingress'],
);

const readWait = record<{ readonly signal?: AbortSignal }>({ signal });

/**
 * Runs a workflow on Restate. Every process that opens a runner of one service processes its runs, and any of them
 * can start, signal and cancel every run. If one crashes, the engine continues its runs on another.
 * @throws AgentError `invalid` for an invalid option, with the code `identity_keys` if other machines could call the
 * handlers without a key.
 */
export function restateRunner<Input extends Json, Output extends Json>(
  options: RestateRunnerOptions<Input, Output>,
): RestateRunner<Input, Output> {
  const given = read(options, readOptions);
  checkCallers(given);
  // The input of a run is what `start` received, and its output is what the workflow returned.
  return new EngineRunner(given) as unknown as RestateRunner<Input, Output>;
}

class EngineRunner implements RestateRunner {
  readonly durable = true;
  readonly #runtime: Runtime;
  readonly #engine: Engine;
  readonly #names: ServiceNames;
  readonly #drainMs: number;
  readonly #endpoint: Promise<HandlerEndpoint>;
  readonly #ready: Promise<string>;
  readonly #live = new Set<RunCall>();
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(options: RestateRunnerOptions<Json, Json>) {
    const { service = 'cobbler', drainMs = 0, runtime = systemRuntime } = options;
    const { patienceMs = 15_000, admin = [] } = options;
    this.#runtime = runtime;
    this.#drainMs = drainMs;
    this.#names = serviceNames(service);
    this.#engine = new Engine({
      ingress: bases(options.ingress),
      admin: bases(admin),
      timeoutMs: patienceMs,
      runtime,
    });
    this.#endpoint = this.#open(options);
    this.#ready = this.#register(options);
    // The caller of the runner receives the error.
    this.#ready.catch(() => {});
  }

  async ready(): Promise<string> {
    return await this.#ready;
  }

  async listening(): Promise<string> {
    return (await this.#endpoint).url;
  }

  async start(input: Json, options: StartOptions): Promise<boolean> {
    const { runId, key, input: text, dueAt, maxAhead } = readStart(input, options);
    const request = {
      runId,
      input: text,
      rejectBusy: maxAhead === 0,
      delayMs: dueAt === undefined ? 0 : Math.max(0, Math.ceil(dueAt - this.#runtime.now())),
    };
    const path = `/${this.#names.keys}/${encodeURIComponent(objectKey(runId, key))}/start`;
    const started = await this.#call<StartResult>(path, request, this.#runtime.id());
    if (started === 'busy') throw runBusy(runId, key, maxAhead);
    return started === 'started';
  }

  async signal(runId: string, name: string, value: Json): Promise<boolean> {
    read(name, text, 'name');
    const json = plainJson(value, `The signal ${JSON.stringify(name)}`);
    return await this.#tell<boolean>(runId, 'signal', { name, text: json });
  }

  async cancel(runId: string): Promise<boolean> {
    return await this.#tell<boolean>(runId, 'cancel');
  }

  async status(runId: string): Promise<WorkflowStatus> {
    return statusOf(await this.#tell<RestateRunRecord>(runId, 'standing'));
  }

  async result(runId: string, options: { readonly signal?: AbortSignal } = {}): Promise<Json> {
    const { signal } = read(options, readWait);
    for (;;) {
      const output = outputOf(runId, statusOf(await this.#outcome(runId, signal)));
      if (output !== undefined) return output;
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort(runnerClosed());
    const endpoint = await this.#endpoint.catch(() => undefined);
    endpoint?.drain();
    if (this.#drainMs > 0) await this.#drain();
    for (const call of this.#live) call.stop(runnerClosed('aborted'));
    await endpoint?.close();
  }

  async #drain(): Promise<void> {
    const idle = Promise.all([...this.#live].map((call) => call.idle()));
    let takeBack = () => {};
    const late = new Promise<void>((resolve) => {
      takeBack = this.#runtime.timer(this.#drainMs, resolve);
    });
    await Promise.race([idle, late]);
    takeBack();
  }

  #open(options: RestateRunnerOptions<Json, Json>): Promise<HandlerEndpoint> {
    const { host = '127.0.0.1', port = 9080, reusePort = false, identityKeys = [] } = options;
    const { workflow, retentionMs = 30 * 86_400_000, idleMs = 7_200_000 } = options;
    const definitions = services({
      names: this.#names,
      workflow,
      runtime: this.#runtime,
      retentionMs,
      idleMs,
      onWork: (call, isOn) => {
        if (!isOn) this.#live.delete(call);
        else if (this.#closed === undefined) this.#live.add(call);
        else call.stop(runnerClosed('aborted'));
      },
    });
    const keys = identityKeys === 'trust-network' ? [] : identityKeys;
    return HandlerEndpoint.open({ definitions, host, port, reusePort, identityKeys: keys });
  }

  async #register({ address, admin }: RestateRunnerOptions<Json, Json>): Promise<string> {
    const { url } = await this.#endpoint;
    if (admin !== undefined) await this.#engine.register(address ?? url, handlerNames(this.#names));
    return url;
  }

  async #outcome(runId: string, signal: AbortSignal | undefined): Promise<RestateRunRecord> {
    this.#checkOpen();
    const either =
      signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    try {
      await this.#ready;
      return await this.#engine.call<RestateRunRecord>(this.#path(runId, 'result'), undefined, {
        signal: either,
      });
    } catch (thrown) {
      this.#checkOpen();
      if (signal?.aborted) throw waitAborted(runId, signal.reason);
      throw thrown;
    }
  }

  #tell<Result>(runId: string, what: string, body?: unknown): Promise<Result> {
    return this.#call<Result>(this.#path(runId, what), body, this.#runtime.id());
  }

  async #call<Result>(path: string, body: unknown, idempotencyKey: string): Promise<Result> {
    this.#checkOpen();
    await this.#ready;
    return await this.#engine.call<Result>(path, body, { idempotencyKey });
  }

  #path(runId: string, handler: string): string {
    checkRunId(runId);
    return `/${this.#names.runs}/${encodeURIComponent(runId)}/${handler}`;
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw runnerClosed();
  }
}

/** Addresses that only programs on this machine can reach. */
const loopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;

function checkCallers({ host = '127.0.0.1', identityKeys = [] }: RestateRunnerOptions<Json, Json>): void {
  if (identityKeys.length > 0 || loopback.test(host)) return;
  const message = `The handlers would listen on ${host} without identityKeys, so anyone who can reach this port could run the workflow. Pass the public keys of the Restate servers as identityKeys, or "trust-network" if only they can reach the port.`;
  throw new AgentError({ kind: 'invalid', code: 'identity_keys', message });
}

function bases(given: string | readonly string[]): string[] {
  return [given].flat().map((base) => base.replace(/\/+$/, ''));
}
