import type { Runtime } from '@cobbler/agent';
import type { WorkflowBinding, WorkflowParams, WorkflowStep } from '../../src/cloudflare/workflow.ts';

/** The function that the instances of a {@link FakeWorkflow} execute. */
export type InstanceWork = (params: WorkflowParams, step: WorkflowStep) => Promise<void>;

const maxBytes = 1_048_576;

/**
 * An in-memory Workflow that rejects what the deployed engine is documented to reject, but the
 * local engine accepts.
 */
export class FakeWorkflow implements WorkflowBinding {
  readonly instances: Map<string, FakeInstance> = new Map();
  readonly #runtime: Runtime;
  readonly #work: InstanceWork;

  constructor(runtime: Runtime, work: InstanceWork) {
    this.#runtime = runtime;
    this.#work = work;
  }

  async create({ id, params }: { readonly id: string; readonly params: WorkflowParams }): Promise<unknown> {
    if (!/^[a-zA-Z0-9_][a-zA-Z0-9-_]{0,99}$/.test(id)) throw new Error('instance.invalid_id');
    if (this.instances.has(id)) throw new Error('instance.already_exists');
    const instance = new FakeInstance(this.#runtime);
    this.instances.set(id, instance);
    instance.begin(() => this.#work(structuredClone(params), instance));
    return { id };
  }

  async get(id: string): Promise<FakeInstance> {
    const instance = this.instances.get(id);
    if (instance === undefined) throw new Error('instance.not_found');
    return instance;
  }
}

export class FakeInstance implements WorkflowStep {
  /** Results of steps, as the engine stores them. */
  readonly kept: Map<string, string> = new Map();
  state: 'running' | 'complete' | 'errored' = 'running';
  readonly #runtime: Runtime;
  readonly #events: string[] = [];
  readonly #waiting: { readonly type: string; readonly take: () => void }[] = [];

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  begin(work: () => Promise<void>): void {
    work().then(
      () => {
        this.state = 'complete';
      },
      () => {
        this.state = 'errored';
      },
    );
  }

  async status(): Promise<{ readonly status: string }> {
    return { status: this.state };
  }

  async sendEvent({ type }: { readonly type: string }): Promise<void> {
    if (this.state !== 'running') throw new Error('instance.cannot_receive');
    const index = this.#waiting.findIndex((waiter) => waiter.type === type);
    if (index < 0) this.#events.push(type);
    else this.#waiting.splice(index, 1)[0]?.take();
  }

  async do<Value>(
    name: string,
    { retries }: Parameters<WorkflowStep['do']>[1],
    perform: () => Promise<Value>,
  ): Promise<Value> {
    this.#take(name);
    for (let attempt = 0; ; attempt += 1) {
      try {
        const text = JSON.stringify(await perform());
        if (new TextEncoder().encode(text).length > maxBytes) throw new Error('step result is too large');
        this.kept.set(name, text);
        return JSON.parse(text) as Value;
      } catch (error) {
        // The engine does not preserve the type of an error.
        if (attempt >= retries.limit) throw new Error(String(error));
      }
    }
  }

  async waitForEvent(
    name: string,
    { type, timeout }: { readonly type: string; readonly timeout: number },
  ): Promise<unknown> {
    this.#take(name);
    if (timeout < 1000) throw new Error('the timeout of a wait must be at least one second');
    const index = this.#events.indexOf(type);
    if (index >= 0) return this.#events.splice(index, 1)[0];
    return await new Promise((resolve, reject) => {
      const takeBack = this.#runtime.timer(timeout, () => reject(new Error('timed out')));
      this.#waiting.push({
        type,
        take() {
          takeBack();
          resolve({ type });
        },
      });
    });
  }

  #take(name: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the engine rejects these characters
    if (name === '' || name.length > 256 || /[\x00-\x1f\x7f]/.test(name)) throw new Error(`bad name ${name}`);
    if (this.kept.has(name)) throw new Error(`the name ${name} is used twice`);
    this.kept.set(name, 'null');
  }
}
