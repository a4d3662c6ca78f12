import type { CostQuery } from '@cobbler/agent/store';
import { costGroups, readCosts, totalCosts } from '@cobbler/agent/store';
import { defined } from '@cobbler/agent/values';
import { z } from 'zod';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { costList } from './schemas.ts';
import type { Services } from './services.ts';

/** Returns the route that reads what all sessions have cost. */
export function costRoutes({ store }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/costs',
      name: 'readCosts',
      summary: 'Returns the cost of all sessions, including deleted ones.',
      scope: 'read',
      query: z.strictObject({
        by: z.enum(costGroups).default('day'),
        since: z.iso.datetime().optional(),
        until: z.iso.datetime().optional(),
        timeZone: z.string().max(60).optional(),
      }),
      answers: {
        200: {
          text: 'Days in chronological order; other groups with the most expensive first. `usd` does not include the `unpriced` requests.',
          schema: costList,
        },
      },
      handle: async ({ query: { by, since, until, timeZone } }) => {
        const query: CostQuery = { by, ...defined({ since: msOf(since), until: msOf(until), timeZone }) };
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
