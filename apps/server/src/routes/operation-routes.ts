import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { Problem } from '../requests/problem.ts';
import type { Services } from './services.ts';

/** Returns the routes for operators of the server. */
export function operationRoutes({ meters, readiness }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/livez',
      name: 'live',
      summary: 'Returns 200 while the process is running.',
      answers: { 200: { text: 'The process is running.' } },
      handle: () => ({ status: 200, json: { status: 'ok' } }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      name: 'ready',
      summary: 'Returns 200 while the server can accept prompts. Tests a write to the store.',
      answers: {
        200: { text: 'The server accepts prompts.' },
        503: { text: 'The store is not writable, or the server is stopping.' },
      },
      handle: async () => {
        const reason = await readiness();
        if (reason === undefined) return { status: 200, json: { status: 'ready' } };
        throw new Problem(503, 'not_ready', reason, { headers: { 'retry-after': '5' } });
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      name: 'metrics',
      summary: 'Metrics in the Prometheus text format.',
      scope: 'read',
      answers: { 200: { text: 'All metrics.', type: 'text/plain' } },
      handle: () => ({
        status: 200,
        text: meters.text(),
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      }),
    }),
  ];
}
