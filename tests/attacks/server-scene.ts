import { request } from 'node:http';
import { expect, test } from 'vitest';
import type { Guest } from '../../apps/server/test/support/guest.ts';
import { guest } from '../../apps/server/test/support/guest.ts';
import type { PageAccess, Rig } from '../../apps/server/test/support/rig.ts';
import { rig, signedIn } from '../../apps/server/test/support/rig.ts';

/** A server with a session of Ann, which waits for an approval. Eve and Bob are other users. */
export interface Scene {
  readonly one: Rig;
  readonly ann: Guest;
  readonly eve: Guest;
  readonly bob: Guest;
  readonly approval: { readonly id: string; readonly hash: string };
  /** The cookie and the page key of the owner of the server, who has the scope `admin`. */
  readonly page: PageAccess;
  readonly pageHeaders: Record<string, string>;
}

export interface Sent {
  readonly status: number;
  readonly text: string;
}

export async function scene(may?: 'read' | 'approve' | 'use'): Promise<Scene> {
  const one = await rig();
  const [ann, eve, bob] = [guest(one, 'ann'), guest(one, 'eve'), guest(one, 'bob')];
  await ann.ask('POST', '/v1/sessions', { id: 's' });
  for (const content of ['say Secret.', 'use write']) {
    await ann.ask('POST', '/v1/sessions/s/prompt', { content });
    await one.idle('s');
  }
  const items = (await ann.ask('GET', '/v1/approvals')).json['items'] as Record<string, string>[];
  const { approvalId: id = '', hash = '' } = items[0] ?? {};
  if (may !== undefined) await share(ann, { with: 'eve', may });
  const page = await signedIn(one.ask, one.token);
  const pageHeaders = { authorization: '', cookie: page.cookie, 'cobbler-page': page.key };
  return { one, ann, eve, bob, approval: { id, hash }, page, pageHeaders };
}

export const share = (by: Pick<Guest, 'ask'>, wanted: unknown): ReturnType<Guest['ask']> =>
  by.ask('PATCH', '/v1/sessions/s', { share: wanted });
/** Sends a request with exactly these headers, which `fetch` would not. Ends a stream after its first bytes. */
export function send(
  { server }: Rig,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
  body = '',
): Promise<Sent> {
  return new Promise<Sent>((resolve, reject) => {
    const options = { method, agent: false, setHost: !Object.hasOwn(headers, 'host'), headers };
    const sent = request(server.url + path, options, (response) => {
      const status = response.statusCode ?? 0;
      let text = '';
      const done = () => {
        resolve({ status, text });
        sent.destroy();
      };
      response.setEncoding('utf8').on('end', done);
      response.on('data', (chunk: string) => {
        text += chunk;
        if (response.headers['content-type']?.startsWith('text/event-stream') && text.includes('Secret'))
          done();
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/**
 * An attack, and the same request without what makes it one. That it succeeds shows that only the defence stops the
 * attack.
 */
export type Attack = readonly [
  name: string,
  attack: (on: Scene) => Promise<Sent>,
  same: (on: Scene) => Promise<Sent>,
  level?: 'read' | 'approve' | 'use' | undefined,
];

async function expectRepelled({
  attack,
  same,
  level,
}: {
  attack: Attack[1];
  same: Attack[2];
  level: Attack[3];
}): Promise<void> {
  const on = await scene(level);
  const before = { events: await on.one.store.read('s'), info: await on.one.store.info('s') };
  const { status, text } = await attack(on);
  expect([status, text]).toEqual([expect.toSatisfy((code: number) => code >= 400 && code < 500), text]);
  expect(text).not.toContain('Secret');
  expect({ events: await on.one.store.read('s'), info: await on.one.store.info('s') }).toEqual(before);
  expect((await same(on)).status).toBeLessThan(300);
}

/** Defines the tests of attacks. */
export function repelled(attacks: readonly Attack[]): void {
  const cases = attacks.map(([name, attack, same, level]) => ({ name, attack, same, level }));
  test.each(cases)('$name', expectRepelled);
}
