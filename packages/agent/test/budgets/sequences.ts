import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Statements } from '../../src/node/sqlite/statements.ts';
import type { BudgetDefinition, BudgetPeriod, BudgetStore } from '../../src/store/budgets/index.ts';
import { budgetSchema, sqlBudgets } from '../../src/store/budgets/index.ts';
import { seededRandom } from '../../src/testing/service/seeded-random.ts';
import { BudgetModel, leaseMs } from './budget-model.ts';

const steps = 30;
const start = Date.UTC(2026, 0, 2, 12);
const hour = 3_600_000;
const jumps = [1000, 5000, leaseMs - 1, leaseMs, leaseMs + 1, hour, 25 * hour, -1000, -hour];
const periods: readonly BudgetPeriod[] = ['total', 'run', 'hour', 'day', 'month'];
const budgets = ['all', 'team', 'ann', 'bob'];

interface Process {
  readonly owner: string;
  readonly store: BudgetStore;
}

class Scenario {
  readonly #random: ReturnType<typeof seededRandom>;
  readonly #statements: Statements;
  readonly #definitions: readonly BudgetDefinition[];
  readonly #model: BudgetModel;
  readonly #processes: Process[] = [];
  #ids = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    const db = new DatabaseSync(':memory:');
    db.exec(budgetSchema('', 'INTEGER PRIMARY KEY AUTOINCREMENT'));
    this.#statements = new Statements(db);
    this.#definitions = budgets.map((name, level) => ({
      name,
      per: this.#pick(periods),
      limits: { usd: (4 + this.#below(24)) / 8 },
      ...(level > 0 && { parent: level === 1 ? 'all' : 'team' }),
    }));
    this.#model = new BudgetModel(this.#definitions, start);
  }

  async run(): Promise<void> {
    for (let count = 0; count < 3; count += 1) this.#start();
    for (const definition of this.#definitions) await this.#pick(this.#processes).store.define(definition);
    for (let step = 0; step < steps; step += 1) {
      await this.#step();
      await this.#check();
    }
    const { store } = this.#pick(this.#processes);
    this.#model.charge();
    for (const id of this.#model.ids('waiting', 'open', 'charged')) {
      await store.settle(id, { usd: 0.125, tokens: 0, requests: 1 });
      this.#model.settle(id, 0.125);
    }
    await this.#check();
  }

  async #step(): Promise<void> {
    const kind = this.#below(20);
    if (kind < 11) return await this.#reserve();
    if (kind < 16) return await this.#settle();
    if (kind < 18) this.#model.now += this.#pick(jumps);
    else await this.#end(kind === 18);
  }

  async #reserve(): Promise<void> {
    const { owner, store } = this.#pick(this.#processes);
    const known = this.#below(3) === 0 ? this.#model.ids('open', 'charged') : this.#model.ids('waiting');
    const id = this.#below(3) > 0 && known.length > 0 ? this.#pick(known) : `request-${++this.#ids}`;
    const wanted = (1 + this.#below(8)) / 8;
    const least = Math.min(wanted, (1 + this.#below(3)) / 8);
    const number = Number(id.split('-')[1]);
    const request = {
      ...{ id, sessionId: `session-${number % 2}`, runId: `run-${number % 3}` },
      ...{ budget: budgets[number % budgets.length] as string, isLast: this.#below(5) === 0 },
      wanted: { usd: wanted, tokens: 0, requests: 1 },
      least: { usd: least, tokens: 0, requests: 1 },
    };
    this.#model.reserved(owner, request, await store.reserve(request));
  }

  async #settle(): Promise<void> {
    const ids = this.#model.ids('open', 'charged', 'waiting');
    if (ids.length === 0) return;
    const id = this.#pick(ids);
    const usd = this.#below(10) / 8;
    await this.#pick(this.#processes).store.settle(id, { usd, tokens: 0, requests: 1 });
    this.#model.settle(id, usd);
  }

  /** Ends a process, which closes its store or crashes, and starts another one. */
  async #end(closes: boolean): Promise<void> {
    const [{ owner, store }] = this.#processes.splice(this.#below(this.#processes.length), 1) as [Process];
    this.#start();
    if (!closes) return;
    await store.close();
    this.#model.closed(owner);
  }

  async #check(): Promise<void> {
    const { store } = this.#pick(this.#processes);
    const runId = `run-${this.#below(3)}`;
    this.#model.charge();
    for (const { definition, settled, reserved } of await store.balances(budgets, runId))
      this.#model.checkBalance(definition.name, runId, settled, reserved);
    for (const session of ['session-0', 'session-1']) {
      const ids = (await store.unsettled(session)).map(({ id }) => id);
      expect(ids).toEqual(this.#model.unsettled(session));
    }
  }

  /** Starts a process, whose heartbeats are its reservations. */
  #start(): void {
    const owner = `process-${this.#processes.length}-${++this.#ids}`;
    const sql = {
      prefix: '',
      now: () => this.#model.now,
      query: (text: string, values: readonly (string | number | null)[]) =>
        this.#statements.rows<never>(text, ...values),
    };
    const store = sqlBudgets({
      runtime: { id: () => owner, timer: () => () => {} },
      leaseMs,
      transaction: (work) => work(sql),
      onClose: async () => {},
    });
    this.#processes.push({ owner, store });
  }

  #below(end: number): number {
    return Math.floor(this.#random.next() * end);
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)] as Item;
  }
}

/** Defines the test of this number of random sequences. */
export function testSequences(scenarios: number): void {
  test(`${scenarios} random sequences of reservations, crashes and jumps of the clock keep the rules [U1] [U2] [U3] [U4]`, async () => {
    for (let seed = 1; seed <= scenarios; seed += 1)
      await new Scenario(seed).run().catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
      });
  });
}
