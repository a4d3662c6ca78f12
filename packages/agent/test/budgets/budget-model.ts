import type {
  Amounts,
  BudgetDefinition,
  ReservationRequest,
  ReservationResult,
} from '../../src/store/budgets/index.ts';

export const leaseMs = 15_000;
const maxSilenceMs = 15_000;

interface ModelHold {
  state: 'waiting' | 'open' | 'charged';
  usd: number;
  readonly keys: readonly string[];
  readonly owner: string;
  readonly sessionId: string;
  readonly order: number;
  readonly waitsIn: string | undefined;
  readonly since: number;
}

/** A simple model of budgets in dollars. It checks the rules U1 to U4 of `BudgetStore` instead of making decisions. */
export class BudgetModel {
  now: number;
  readonly #definitions: ReadonlyMap<string, BudgetDefinition>;
  readonly #settled = new Map<string, number>();
  /** What requests used beyond their reservations. */
  readonly #beyond = new Map<string, number>();
  readonly #holds = new Map<string, ModelHold>();
  readonly #aliveUntil = new Map<string, number>();
  #lastOrder = 0;

  constructor(definitions: readonly BudgetDefinition[], now: number) {
    this.#definitions = new Map(definitions.map((definition) => [definition.name, definition]));
    this.now = now;
  }

  /** Ids of the holds in one of these states. */
  ids(...states: readonly ModelHold['state'][]): readonly string[] {
    return [...this.#holds].filter(([, { state }]) => states.includes(state)).map(([id]) => id);
  }

  /** A process reserved: checks the result, and records it. */
  reserved(owner: string, request: ReservationRequest, result: ReservationResult): void {
    this.#aliveUntil.set(owner, this.now + leaseMs);
    this.charge();
    const { id, sessionId } = request;
    const known = this.#holds.get(id);
    if (known !== undefined && known.state !== 'waiting') {
      check(result.state === 'held' && result.amounts.usd === known.usd, 'U2: a reservation is made once');
      return;
    }
    const keys = this.#keys(request);
    const order = known?.order ?? ++this.#lastOrder;
    this.#holds.delete(id);
    const common = { keys, owner, sessionId, order, since: this.now };
    switch (result.state) {
      case 'held':
        this.#checkHeld(request, result.amounts.usd, keys, order);
        this.#holds.set(id, { ...common, state: 'open', usd: result.amounts.usd, waitsIn: undefined });
        return;
      case 'waiting': {
        const waitsIn = keys.find((key) => key.startsWith(`${result.budget} `));
        check(waitsIn !== undefined && request.isLast !== true, 'waits in one of its budgets');
        const isFull = this.#reserved(waitsIn) > 0 && this.#room(waitsIn) < request.wanted.usd;
        const isBlocked = isFull || this.#isAwaited(waitsIn, order);
        check(isBlocked, 'U4: waits only for others');
        this.#holds.set(id, { ...common, state: 'waiting', usd: 0, waitsIn });
        return;
      }
      case 'refused': {
        const key = keys.find((one) => one.startsWith(`${result.budget} `)) ?? '';
        const least = request.least.usd;
        const isSpent = this.#limit(key) - this.settled(key) < least;
        check(
          isSpent || (request.isLast === true && this.#room(key) < least),
          'is refused only without room',
        );
      }
    }
  }

  /** A hold was settled. */
  settle(id: string, used: number): void {
    const hold = this.#holds.get(id);
    this.#holds.delete(id);
    if (hold === undefined || hold.state === 'waiting') return;
    for (const key of hold.keys) {
      add(this.#settled, key, used - (hold.state === 'charged' ? hold.usd : 0));
      add(this.#beyond, key, Math.max(0, used - hold.usd));
    }
  }

  /** A process closed its store. */
  closed(owner: string): void {
    this.#aliveUntil.delete(owner);
  }

  /** Charges the holds of processes that are not alive, and forgets their requests that wait. */
  charge(): void {
    for (const [id, hold] of this.#holds) {
      const isAlive = (this.#aliveUntil.get(hold.owner) ?? 0) > this.now;
      if (hold.state === 'waiting' && (!isAlive || hold.since < this.now - maxSilenceMs))
        this.#holds.delete(id);
      if (hold.state !== 'open' || isAlive) continue;
      hold.state = 'charged';
      for (const key of hold.keys) add(this.#settled, key, hold.usd);
    }
  }

  /** Checks what a store says about a budget in its current period. */
  checkBalance(name: string, runId: string, settled: Amounts, reserved: Amounts): void {
    const key = this.#key(name, runId);
    check(
      settled.usd === this.settled(key),
      `U2, U3: ${name} has spent ${settled.usd}, not ${this.settled(key)}`,
    );
    check(
      reserved.usd === this.#reserved(key),
      `U2: ${name} has reserved ${reserved.usd}, not ${this.#reserved(key)}`,
    );
    const max = this.#limit(key) + (this.#beyond.get(key) ?? 0);
    check(settled.usd + reserved.usd <= max, `U1: ${name} exceeds its limit`);
  }

  /** Ids of the unsettled reservations of a session, oldest first. */
  unsettled(session: string): readonly string[] {
    const open = [...this.#holds].filter(
      ([, { state, sessionId }]) => state !== 'waiting' && sessionId === session,
    );
    return open.sort(([, left], [, right]) => left.order - right.order).map(([id]) => id);
  }

  settled(key: string): number {
    return this.#settled.get(key) ?? 0;
  }

  #checkHeld(request: ReservationRequest, usd: number, keys: readonly string[], order: number): void {
    check(
      usd >= request.least.usd && usd <= request.wanted.usd,
      'gets at least the minimum and at most the maximum',
    );
    check(
      keys.every((key) => usd <= this.#room(key)),
      'U1: gets no more than there is room',
    );
    if (request.isLast === true) return;
    check(!keys.some((key) => this.#isAwaited(key, order)), 'U4: passes none that waits');
    const isRest = keys.some((key) => this.#reserved(key) === 0 && this.#room(key) === usd);
    check(usd === request.wanted.usd || isRest, 'gets less only if nothing is reserved');
  }

  #keys({ budget, runId }: ReservationRequest): readonly string[] {
    const keys: string[] = [];
    for (
      let name: string | undefined = budget;
      name !== undefined;
      name = this.#definitions.get(name)?.parent
    )
      keys.push(this.#key(name, runId));
    return keys;
  }

  #key(name: string, runId: string): string {
    const time = new Date(this.now).toISOString();
    const periods = {
      total: '',
      run: runId,
      hour: time.slice(0, 13),
      day: time.slice(0, 10),
      month: time.slice(0, 7),
    };
    return `${name} ${periods[this.#definitions.get(name)?.per ?? 'total']}`;
  }

  #limit(key: string): number {
    return this.#definitions.get(key.split(' ')[0] ?? '')?.limits.usd ?? Number.POSITIVE_INFINITY;
  }

  #room(key: string): number {
    return this.#limit(key) - this.settled(key) - this.#reserved(key);
  }

  #reserved(key: string): number {
    const open = [...this.#holds.values()].filter(
      ({ state, keys }) => state === 'open' && keys.includes(key),
    );
    return open.reduce((sum, { usd }) => sum + usd, 0);
  }

  #isAwaited(key: string, order: number): boolean {
    return [...this.#holds.values()].some((hold) => hold.waitsIn === key && hold.order < order);
  }
}

function add(sums: Map<string, number>, key: string, amount: number): void {
  sums.set(key, (sums.get(key) ?? 0) + amount);
}

function check(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new Error(rule);
}
