import type { CostQuery } from '@cobbler/agent/store';
import { costGroups, readCosts, totalCosts } from '@cobbler/agent/store';
import { defined } from '@cobbler/agent/values';
import { z } from 'zod';
import { seesAll, userOf } from '../auth/access.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { costList } from './schemas.ts';
import type { Services } from './services.ts';

/** Returns the route that reads costs. */
export function costRoutes({ store }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/costs',
      name: 'readCosts',
      summary:
        'Returns the cost of the prompts of the token, in all its sessions, including deleted ones. With the scope `admin`: of all sessions.',
      scope: 'read',
      query: z.strictObject({
        by: z.enum(costGroups).default('day'),
        since: z.iso.datetime().optional(),
        until: z.iso.datetime().optional(),
        timeZone: z.string().max(60).optional(),
      }),
      answers: {
        200: {
          text: 'Days are in chronological order, and other groups start with the most expensive. `usd` does not include the `unpriced` requests.',
          schema: costList,
        },
      },
      handle: async ({ query: { by, since, until, timeZone }, token }) => {
        const user = token === undefined || seesAll(token) ? undefined : userOf(token);
        const query: CostQuery = {
          by,
          ...defined({ since: msOf(since), until: msOf(until), timeZone, user }),
        };
        const items = (await readCosts(store, query)).map(({ first, last, ...row }) => {
          return { ...row, first: isoText(first), last: isoText(last) };
        });
        return { status: 200, json: { items, total: totalCosts(items) } };
      },
    }),
  ];
}

function msOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

function isoText(ms: number): string {
  return new Date(ms).toISOString();
}
