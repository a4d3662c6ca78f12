import { docsPage } from '../http/pages.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { openApi } from './open-api.ts';

/** Returns the routes that describe these routes and themselves, for programs and for readers. */
export function descriptionRoutes(routes: readonly Route[], version: string): Route[] {
  const own: Route[] = [
    route({
      method: 'GET',
      path: '/openapi.json',
      name: 'openApi',
      summary: 'Returns the OpenAPI 3.1 description of this API.',
      answers: { 200: { text: 'The description.' } },
      handle: () => ({ status: 200, json: document() }),
    }),
    route({
      method: 'GET',
      path: '/docs',
      name: 'docs',
      summary: 'Shows the documentation of this API.',
      answers: { 200: { text: 'A page.', type: 'text/html' } },
      handle: () => docsPage(described, document()),
    }),
  ];
  const described = [...routes, ...own];
  let cached: Record<string, unknown> | undefined;
  const document = () => {
    cached ??= openApi(described, version);
    return cached;
  };
  return own;
}
