import type { Amounts } from '../../interfaces/amounts.ts';
import { addAmounts, noAmounts } from '../../interfaces/amounts.ts';
import type { BudgetLevel, Verdict } from '../../interfaces/decide-reservation.ts';
import { decideReservation, raisedLimits } from '../../interfaces/decide-reservation.ts';
import type { BudgetGrant } from '../../interfaces/reservation.ts';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import { callable, listOf, optional, read } from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import type { BudgetAlert } from './alerts.ts';
import { alertsIn } from './alerts.ts';
import type {
  BudgetBalance,
  BudgetStore,
  OpenReservation,
  ReservationRequest,
  ReservationResult,
} from './budget-store.ts';
import { invalidParent, maxDepth, readGrant, readRequest, unknownBudget } from './budget-store.ts';
import type { BalanceKey, BudgetTables, Hold } from './budget-tables.ts';
import type { BudgetDefinition } from './definition.ts';
import { readAmounts, readDefinition, readName } from './definition.ts';
import { periodAt, periodEnd } from './period.ts';

/** Time after which a request that waits, and does not ask again, loses its place, in milliseconds. */
const maxSilenceMs = 15_000;

/** Time for which a charged reservation can still be settled, in milliseconds. */
const retentionMs = 30 * 24 * 3_600_000;

/** Maximum number of charged reservations that can still be settled. */
const maxCharged = 10_000;

export interface BookOptions {
  readonly runtime: Pick<Runtime, 'timer' | 'id'>;
  /** Time without a sign of life after which a process counts as crashed, in milliseconds; undefined: never. */
  readonly leaseMs: number | undefined;
  /** Runs work in one transaction. Never called while another call is running. */
  readonly transaction: <Value>(work: (tables: BudgetTables) => Promise<Value>) => Promise<Value>;
  readonly onClose: () => Promise<void>;
}

const readNames = optional(listOf(readName, 'an array of names'));

/** The rules of every budget store, over the tables of each. */
export class BudgetBook implements BudgetStore {
  readonly #options: BookOptions;
  readonly #owner: string;
  /** Ids of the holds that this process has to settle. */
  readonly #live = new Set<string>();
  readonly #listeners: ((alert: BudgetAlert) => void)[] = [];
  #stopBeating: (() => void) | undefined;
  /** Settles after all work that was started, whether or not it succeeded. */
  #last: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(options: BookOptions) {
    this.#options = options;
    this.#owner = options.runtime.id();
  }

  async define(given: BudgetDefinition): Promise<void> {
    const definition = read(given, readDefinition, 'budget');
    const { name, parent } = definition;
    await this.#transaction(async (tables) => {
      let levels = 1 + (await levelsBelow(tables, name));
      for (let above = parent; above !== undefined; levels += 1) {
        if (above === name || levels >= maxDepth) throw invalidParent(name, String(parent));
        above = (await budgetIn(tables, above)).parent;
      }
      await tables.putBudget(definition);
    });
  }

  async reserve(given: ReservationRequest): Promise<ReservationResult> {
    const request = read(given, readRequest, 'request');
    const alerts: BudgetAlert[] = [];
    const result = await this.#transaction(async (tables) => {
      const now = await tables.now();
      await this.#beat(tables, now);
      add(alerts, await alertsIn(tables, await chargeAbandoned(tables, now)));
      return await this.#reserveIn(tables, request, now, alerts);
    });
    this.#alert(alerts);
    if (result.state === 'refused') this.#release(request.id);
    else this.#keepAlive(request.id);
    return result;
  }

  async settle(givenId: string, givenAmounts: Amounts): Promise<void> {
    const id = read(givenId, readName, 'id');
    const used = read(givenAmounts, readAmounts, 'used');
    const alerts: BudgetAlert[] = [];
    await this.#transaction(async (tables) => {
      const hold = await tables.hold(id);
      if (hold === undefined || hold.state === 'granted') return;
      await tables.removeHold(id);
      if (hold.state === 'waiting') return;
      const before = hold.state === 'charged' ? hold.amounts : noAmounts;
      for (const key of hold.balances) await tables.add(key, difference(used, before));
      add(alerts, await alertsIn(tables, hold.balances));
    });
    this.#alert(alerts);
    this.#release(id);
  }

  async grant(given: BudgetGrant): Promise<void> {
    const { id: grantId, budget, runId, amounts } = read(given, readGrant, 'grant');
    const id = `grant:${grantId}`;
    await this.#transaction(async (tables) => {
      const definition = await budgetIn(tables, budget);
      if ((await tables.hold(id)) !== undefined) return;
      const since = await tables.now();
      const balances = [balanceKey(definition, periodAt(definition, since, runId))];
      // It belongs to no session, because no session settles it.
      const hold = { id, owner: this.#owner, sessionId: '', runId, amounts, balances, since };
      await tables.putHold({ ...hold, state: 'granted' });
    });
  }

  async unsettled(given: string): Promise<readonly OpenReservation[]> {
    const sessionId = read(given, readName, 'sessionId');
    return await this.#transaction(async (tables) => {
      const holds = await tables.holdsOf(sessionId);
      return holds.map(({ id, runId, amounts }) => ({ id, runId, amounts }));
    });
  }

  async balances(givenNames?: readonly string[], givenRun?: string): Promise<readonly BudgetBalance[]> {
    const names = read(givenNames, readNames, 'names');
    const runId = read(givenRun, optional(readName), 'runId') ?? '';
    return await this.#transaction(async (tables) => {
      const now = await tables.now();
      await chargeAbandoned(tables, now);
      const balances: BudgetBalance[] = [];
      for (const name of names ?? (await tables.names())) {
        const definition = await budgetIn(tables, name);
        const period = periodAt(definition, now, runId);
        const { settled, reserved, granted } = await tables.balance(balanceKey(definition, period), 0);
        const endsAt = periodEnd(definition, now);
        balances.push({ definition, period, settled, reserved, granted, ...defined({ endsAt }) });
      }
      return balances;
    });
  }

  onAlert(listener: (alert: BudgetAlert) => void): void {
    this.#listeners.push(read<(alert: BudgetAlert) => void>(listener, callable, 'listener'));
  }

  #alert(alerts: readonly BudgetAlert[]): void {
    for (const alert of alerts) {
      for (const listener of this.#listeners) {
        try {
          listener(alert);
        } catch {
          // What is settled stays settled.
        }
      }
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stopBeating?.();
    try {
      // Another process charges what is left, as if this one had crashed.
      await this.#inTurn(async (tables) => await tables.setAlive(this.#owner, undefined));
    } finally {
      await this.#options.onClose();
    }
  }

  async #reserveIn(
    tables: BudgetTables,
    request: ReservationRequest,
    now: number,
    alerts: BudgetAlert[],
  ): Promise<ReservationResult> {
    const { id, sessionId, runId, wanted, least, isLast = false } = request;
    const known = await tables.hold(id);
    if (known !== undefined && known.state !== 'waiting') return { state: 'held', amounts: known.amounts };
    const keys: BalanceKey[] = [];
    const levels: StoredLevel[] = [];
    for (let name: string | undefined = request.budget; name !== undefined; ) {
      const definition: BudgetDefinition = await budgetIn(tables, name);
      const key = balanceKey(definition, periodAt(definition, now, runId));
      keys.push(key);
      const balance = await tables.balance(key, known?.number ?? Number.MAX_SAFE_INTEGER);
      levels.push({ definition, limits: raisedLimits(definition.limits, balance.granted), ...balance });
      name = definition.parent;
    }
    const verdict = decideReservation(levels, { wanted, least, isLast });
    const hold = { id, owner: this.#owner, sessionId, runId, balances: keys, since: now };
    await keepVerdict(tables, hold, keys, verdict);
    if (verdict.state === 'refused')
      add(alerts, await alertsIn(tables, keys.slice(verdict.level, verdict.level + 1), verdict.limit));
    return resultOf(verdict, levels, now);
  }

  /** Declares this process alive, so that its holds are not taken for abandoned. */
  async #beat(tables: BudgetTables, now: number): Promise<void> {
    const { leaseMs } = this.#options;
    if (leaseMs !== undefined) await tables.setAlive(this.#owner, now + leaseMs);
  }

  #keepAlive(id: string): void {
    this.#live.add(id);
    if (this.#stopBeating === undefined) this.#scheduleBeat();
  }

  /** Stops the heartbeat with the last hold, so that its timer does not delay the end of the program. */
  #release(id: string): void {
    this.#live.delete(id);
    if (this.#live.size > 0) return;
    this.#stopBeating?.();
    this.#stopBeating = undefined;
  }

  #scheduleBeat(): void {
    const { leaseMs, runtime } = this.#options;
    if (leaseMs === undefined) return;
    this.#stopBeating = runtime.timer(leaseMs / 3, () => {
      this.#stopBeating = undefined;
      this.#scheduleBeat();
      // If this fails until the lease ends, the reservations are charged, and corrected when they are settled.
      this.#transaction(async (tables) => this.#beat(tables, await tables.now())).catch(() => undefined);
    });
  }

  #transaction<Value>(work: (tables: BudgetTables) => Promise<Value>): Promise<Value> {
    if (this.#closing === undefined) return this.#inTurn(work);
    const message = 'The budget store has been closed. Open it again.';
    return Promise.reject(new AgentError({ kind: 'invalid', code: 'store_closed', message }));
  }

  #inTurn<Value>(work: (tables: BudgetTables) => Promise<Value>): Promise<Value> {
    const next = this.#last.then(() => this.#options.transaction(work));
    this.#last = next.catch(() => undefined);
    return next;
  }
}

async function levelsBelow(tables: BudgetTables, name: string): Promise<number> {
  let names = await tables.children(name);
  let levels = 0;
  for (; names.length > 0; levels += 1) {
    const below: string[] = [];
    for (const child of names) below.push(...(await tables.children(child)));
    names = below;
  }
  return levels;
}

async function budgetIn(tables: BudgetTables, name: string): Promise<BudgetDefinition> {
  const definition = await tables.budget(name);
  if (definition === undefined) throw unknownBudget(name);
  return definition;
}

function balanceKey({ name, per = 'total' }: BudgetDefinition, period: string): BalanceKey {
  return { budget: name, period: `${per} ${period}` };
}

/** Charges what crashed processes have reserved, and removes their requests that wait. Returns the balances that were charged. */
async function chargeAbandoned(tables: BudgetTables, now: number): Promise<readonly BalanceKey[]> {
  const charged: BalanceKey[] = [];
  const abandoned = await tables.abandoned(now, now - maxSilenceMs);
  for (const { number: _, ...hold } of abandoned) {
    if (hold.state === 'waiting') {
      await tables.removeHold(hold.id);
      continue;
    }
    for (const key of hold.balances) await tables.add(key, hold.amounts);
    charged.push(...hold.balances);
    await tables.putHold({ ...hold, state: 'charged', since: now });
  }
  if (abandoned.length > 0) await tables.prune(now, now - retentionMs, maxCharged);
  return charged;
}

async function keepVerdict(
  tables: BudgetTables,
  hold: Omit<Hold, 'state' | 'amounts'>,
  keys: readonly BalanceKey[],
  verdict: Verdict,
): Promise<void> {
  switch (verdict.state) {
    case 'held':
      return await tables.putHold({ ...hold, state: 'open', amounts: verdict.amounts });
    case 'waiting':
      return await tables.putHold({
        ...hold,
        state: 'waiting',
        amounts: noAmounts,
        ...defined({ waitsIn: keys[verdict.level] }),
      });
    case 'refused':
      return await tables.removeHold(hold.id);
  }
}

/** One budget on the way from a request to the root. */
interface StoredLevel extends BudgetLevel {
  readonly definition: BudgetDefinition;
}

function resultOf(verdict: Verdict, levels: readonly StoredLevel[], now: number): ReservationResult {
  if (verdict.state === 'held') return verdict;
  const { definition, limits, settled } = levels[verdict.level] as StoredLevel;
  const budget = definition.name;
  if (verdict.state === 'waiting') return { state: 'waiting', budget };
  const { limit } = verdict;
  const endsAt = periodEnd(definition, now);
  const [max, base, spent] = [Number(limits[limit]), Number(definition.limits[limit]), settled[limit]];
  return { state: 'refused', budget, limit, max, base, spent, ...defined({ endsAt }) };
}

function difference(left: Amounts, right: Amounts): Amounts {
  return addAmounts(left, { usd: -right.usd, tokens: -right.tokens, requests: -right.requests });
}

/** Adds alerts to those of an earlier attempt at the same transaction, of which a part may be stored. */
function add(alerts: BudgetAlert[], more: readonly BudgetAlert[]): void {
  const known = new Set(alerts.map((alert) => JSON.stringify(alert)));
  for (const alert of more) if (!known.has(JSON.stringify(alert))) alerts.push(alert);
}
