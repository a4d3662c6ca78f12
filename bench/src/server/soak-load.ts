import type { SeededRandom } from '@cobbler/agent/testing';
import { attacked, attacks, connectAndDrop } from '../../../apps/server/test/http/attacks.ts';
import type { Caller, Watcher } from './caller.ts';

/** An activity of a client in a session of its own. Rejects if the server makes a mistake. */
type Activity = (caller: Caller, sessionId: string, random: SeededRandom) => Promise<void>;

/** Clients with good and bad behavior, which work until they are paused. */
export class SoakLoad {
  readonly counts: Map<string, number> = new Map();
  readonly faults: string[] = [];
  readonly #caller: Caller;
  readonly #random: SeededRandom;
  #isResting = false;
  #working: Promise<void>[] = [];
  #sessions = 0;

  constructor(caller: Caller, random: SeededRandom) {
    this.#caller = caller;
    this.#random = random;
  }

  /** Starts this many clients. */
  work(clients: number): void {
    this.#isResting = false;
    this.#working = Array.from({ length: clients }, () => this.#client());
  }

  /** Resolves when every client has finished its current activity. */
  async rest(): Promise<void> {
    this.#isResting = true;
    await Promise.all(this.#working);
    this.#caller.release();
  }

  async #client(): Promise<void> {
    while (!this.#isResting) {
      const name = this.#random.pick(names);
      const sessionId = `soak-${++this.#sessions}`;
      try {
        await activities[name](this.#caller, sessionId, this.#random);
      } catch (error) {
        this.faults.push(`${name}, session ${sessionId}: ${error instanceof Error ? error.message : error}`);
      }
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, this.#random.between(50, 500)));
    }
  }
}

const activities = {
  talk: async (caller, id, random) => {
    const watcher = await begun(caller, id);
    for (let run = 1; run <= 4; run += 1) {
      await prompt(caller, id, random.pick(sayings), { 'idempotency-key': `${id}-${run}` });
      await watcher.untilFinished(run);
    }
    await expectStatus(caller.ask('GET', `/v1/sessions/${id}/messages`), 200);
    await expectStatus(caller.ask('GET', `/v1/sessions/${id}/usage`), 200);
    contiguous(watcher.ids, 1);
    await leave(caller, id, watcher);
  },
  approve: async (caller, id, random) => {
    const watcher = await begun(caller, id);
    await prompt(
      caller,
      id,
      `use write_file ${JSON.stringify({ path: `${id.slice(-1)}.txt`, content: id })}`,
    );
    await watcher.untilFinished(1);
    const { json } = await caller.ask('GET', `/v1/approvals?session=${id}`);
    const [asked] = json['items'] as { approvalId: string; hash: string }[];
    if (asked === undefined) throw new Error('there are no waiting approvals');
    const path = `/v1/sessions/${id}/approvals/${asked.approvalId}`;
    await expectStatus(caller.ask('POST', path, { decision: 'allow', hash: 'tampered' }), 409);
    const answer = random.chance(0.5) ? { decision: 'allow', hash: asked.hash } : { decision: 'deny' };
    await expectStatus(caller.ask('POST', path, answer), 202);
    await expectStatus(caller.ask('POST', path, answer), 409);
    await watcher.untilFinished(2);
    await leave(caller, id, watcher);
  },
  unanswered: async (caller, id) => {
    const watcher = await begun(caller, id);
    await prompt(caller, id, 'use run_command {"command":"true"}');
    await watcher.untilFinished(1);
    await leave(caller, id, watcher);
  },
  cancel: async (caller, id, random) => {
    const watcher = await begun(caller, id);
    await prompt(caller, id, 'hang');
    await new Promise((resolve) => setTimeout(resolve, random.between(0, 100)));
    await expectStatus(caller.ask('POST', `/v1/sessions/${id}/cancel`), 200);
    await watcher.untilFinished(1);
    await leave(caller, id, watcher);
  },
  fork: async (caller, id) => {
    const watcher = await begun(caller, id);
    await prompt(caller, id, 'say 50');
    await watcher.untilFinished(1);
    const { json } = await expectStatus(caller.ask('POST', `/v1/sessions/${id}/fork`, {}), 201);
    const fork = String(json['id']);
    await prompt(caller, fork, 'say 5');
    const other = await caller.watch(`/v1/sessions/${fork}/events`);
    // The first run end is from the other session.
    await other.untilFinished(2);
    await leave(caller, fork, other);
    await leave(caller, id, watcher);
  },
  resumeWatching: async (caller, id, random) => {
    let watcher = await begun(caller, id);
    for (let run = 1; run <= 5; run += 1) {
      await prompt(caller, id, random.pick(sayings));
      if (random.chance(0.5)) await new Promise((resolve) => setImmediate(resolve));
      const last = watcher.ids.at(-1) ?? 0;
      watcher.drop();
      watcher = await caller.watch(`/v1/sessions/${id}/events`, { 'last-event-id': String(last) });
      await watcher.untilFinished(1);
      contiguous(watcher.ids, last + 1);
    }
    await leave(caller, id, watcher);
  },
  stall: async (caller, id) => {
    const watcher = await begun(caller, id);
    const stalled = await caller.watch(`/v1/sessions/${id}/events`);
    stalled.stall();
    for (let run = 1; run <= 3; run += 1) {
      await prompt(caller, id, 'say 40000');
      await watcher.untilFinished(run);
    }
    stalled.drop();
    await leave(caller, id, watcher);
  },
  crowd: async (caller, id) => {
    const watcher = await begun(caller, id);
    const crowd = await Promise.all(
      Array.from({ length: 20 }, () => caller.watch(`/v1/sessions/${id}/events`)),
    );
    const body = { content: 'say 20' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => caller.ask('POST', `/v1/sessions/${id}/prompt`, body)),
    );
    const taken = answers.filter(({ status }) => status === 202).length;
    const refused = answers.filter(({ status }) => status === 409).length;
    if (taken === 0 || taken + refused < 20)
      throw new Error(`20 concurrent prompts: ${taken} accepted, ${refused} rejected`);
    await Promise.all([watcher, ...crowd].map((one) => one.untilFinished(taken)));
    for (const one of crowd) one.drop();
    await leave(caller, id, watcher);
  },
  unknownTool: async (caller, id) => {
    const watcher = await begun(caller, id);
    await prompt(caller, id, `use tool_${id.replace(/\W/g, '_')} {}`);
    await watcher.untilFinished(1);
    await leave(caller, id, watcher);
  },
  tokens: async (caller, id) => {
    const made = await expectStatus(caller.ask('POST', '/v1/tokens', { name: id, scopes: ['read'] }), 201);
    const { id: tokenId, token } = made.json;
    const headers = { authorization: `Bearer ${token}` };
    await expectStatus(caller.ask('GET', '/v1/sessions', undefined, headers), 200);
    await expectStatus(caller.ask('DELETE', `/v1/tokens/${tokenId}`), 204);
    await expectStatus(caller.ask('GET', '/v1/sessions', undefined, headers), 401);
  },
  attack: async ({ address }, _id, random) => {
    const attack = random.pick(attacks);
    const outcome = await attacked(address, attack);
    // Some attacks name a session that does not exist.
    if (outcome !== attack.expected && outcome !== 404) throw new Error(`${attack.name} got ${outcome}`);
  },
  connect: async ({ address }) => {
    await Promise.all(
      ['', 'GET / HT', 'POST /prompt HTTP/1.1\r\n'].map((said) => connectAndDrop(address, said)),
    );
  },
  metrics: async (caller) => {
    await expectStatus(caller.ask('GET', '/metrics'), 200);
    await expectStatus(caller.ask('GET', '/openapi.json'), 200);
    await expectStatus(caller.ask('GET', '/readyz'), 200);
  },
} satisfies Record<string, Activity>;

const names = Object.keys(activities) as (keyof typeof activities)[];

const sayings = [
  'say 3',
  'say 400',
  'use read_file {"path":"notes.txt"}',
  'both {"path":"notes.txt"}',
  'use read_file {"path":"../../etc/passwd"}',
  'nothing a model can read',
];

async function begun(caller: Caller, id: string): Promise<Watcher> {
  await expectStatus(caller.ask('POST', '/v1/sessions', { id }), 201);
  return await caller.watch(`/v1/sessions/${id}/events`);
}

async function prompt(
  caller: Caller,
  id: string,
  content: string,
  headers?: Record<string, string>,
): Promise<void> {
  await expectStatus(caller.ask('POST', `/v1/sessions/${id}/prompt`, { content }, headers), 202);
}

/** Deletes a session; some readers disconnect before and some after. */
async function leave(caller: Caller, id: string, watcher: Watcher): Promise<void> {
  if (id.endsWith('1')) watcher.drop();
  await expectStatus(caller.ask('DELETE', `/v1/sessions/${id}`), 204);
  watcher.drop();
}

async function expectStatus<Answered extends { readonly status: number; readonly text: string }>(
  pending: Promise<Answered>,
  status: number,
): Promise<Answered> {
  const answered = await pending;
  if (answered.status === status) return answered;
  throw new Error(`${answered.status} instead of ${status}: ${answered.text.slice(0, 300)}`);
}

function contiguous(ids: readonly number[], first: number): void {
  const wrong = ids.findIndex((id, index) => id !== first + index);
  if (wrong !== -1) throw new Error(`event ${ids[wrong]} arrived in place of ${first + wrong}`);
}
