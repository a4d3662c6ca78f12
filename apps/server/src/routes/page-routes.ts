import type { PageFiles } from '@cobbler/web/page';
import type { Route, RouteResponse } from '../http/route.ts';
import { route } from '../http/route.ts';
import { Problem } from '../requests/problem.ts';

/**
 * The content security policy of the page: run only its own script, call only this server, show only images that it
 * contains. Text becomes HTML only through its sanitizer, in browsers with trusted types.
 */
const policy: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify',
].join('; ');

/** For files whose name changes with their content. */
const forGood = { 'cache-control': 'public, max-age=31536000, immutable' };

let loading: Promise<PageFiles> | undefined;

/** Loads the page, or builds it from the sources, on the first request. */
async function files(): Promise<PageFiles> {
  loading ??= import('@cobbler/web/page').then(({ loadPage }) => loadPage());
  try {
    return await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

async function page(): Promise<RouteResponse> {
  const { type, text } = (await files())['/'] ?? throwNotFound();
  return {
    status: 200,
    text,
    headers: {
      'content-type': type,
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
    },
  };
}

function throwNotFound(): never {
  throw new Problem(404, 'no_route', 'There is no route at this address.');
}

/**
 * Returns the routes of the web page. The page itself reveals nothing about the server or its sessions: it requests
 * them with a token.
 */
export function pageRoutes(): Route[] {
  const answers = { 200: { text: 'The page.', type: 'text/html' } };
  return [
    route({ method: 'GET', path: '/', name: 'page', summary: 'The web page.', answers, handle: page }),
    route({
      method: 'GET',
      path: '/costs',
      name: 'costsPage',
      summary: 'The web page, showing the costs of all sessions.',
      answers,
      handle: page,
    }),
    route({
      method: 'GET',
      path: '/s/{sessionId}',
      name: 'sessionPage',
      summary: 'The web page, with a session open.',
      answers,
      handle: page,
    }),
    route({
      method: 'GET',
      path: '/assets/{file}',
      name: 'pageFile',
      summary: 'A file that the page loads.',
      answers: { 200: { text: 'The file.' }, 404: { text: 'There is no such file.' } },
      handle: async ({ params: { file = '' } }) => {
        const { type, text } = (await files())[`/assets/${file}`] ?? throwNotFound();
        return { status: 200, text, headers: { 'content-type': type, ...forGood } };
      },
    }),
  ];
}
