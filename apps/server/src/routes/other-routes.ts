import { z } from 'zod';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { cookieName } from '../requests/cookie.ts';
import { Problem } from '../requests/problem.ts';
import { scopes } from '../requests/scope.ts';
import { accepted, answerBody, approval, approvalList, id, tokenInfo } from './schemas.ts';
import type { Services } from './services.ts';

/** What people are asked, and what they answer. */
export function approvalRoutes({ approvals }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/approvals',
      name: 'listApprovals',
      summary: 'Lists what waits for a person, in all sessions or in one.',
      scope: 'read',
      query: z.strictObject({ session: id.optional() }),
      answers: { 200: { text: 'What waits, the oldest first.', schema: approvalList } },
      handle: async ({ query }) => {
        await approvals.refresh();
        return { status: 200, json: { items: approvals.list(query.session) } };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/sessions/{sessionId}/approvals/{approvalId}',
      name: 'readApproval',
      summary: 'Tells what a person is asked, and what was decided.',
      scope: 'read',
      answers: { 200: { text: 'The approval.', schema: approval }, 404: { text: 'It was never asked.' } },
      handle: async ({ params: { sessionId = '', approvalId = '' } }) => ({
        status: 200,
        json: await approvals.find(sessionId, approvalId),
      }),
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/approvals/{approvalId}',
      name: 'answerApproval',
      summary: 'Allows or denies a call, once; the run goes on with it.',
      scope: 'approve',
      body: answerBody,
      answers: {
        202: { text: 'Decided; the run goes on.', schema: accepted },
        404: { text: 'It was never asked.' },
        409: { text: 'Too late (`decided`, `expired`), or not what was asked (`other_arguments`).' },
      },
      handle: async ({ params: { sessionId = '', approvalId = '' }, body }) => ({
        status: 202,
        json: await approvals.answer(sessionId, approvalId, body),
      }),
    }),
  ];
}

/** Tokens, and the cookie that stands for one in a browser. */
export function tokenRoutes({ tokens, cookies }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/tokens',
      name: 'listTokens',
      summary: 'Lists tokens without their secrets.',
      scope: 'admin',
      tokenOnly: true,
      answers: { 200: { text: 'All tokens.', schema: z.object({ items: z.array(tokenInfo) }) } },
      handle: () => ({ status: 200, json: { items: tokens.list() } }),
    }),
    route({
      method: 'POST',
      path: '/v1/tokens',
      name: 'createToken',
      summary: 'Makes a token. Its secret is shown this once.',
      scope: 'admin',
      tokenOnly: true,
      body: z
        .strictObject({
          name: z.string().min(1).max(100),
          scopes: z.array(z.enum(scopes)).min(1),
          expiresInMs: z.int().positive().optional(),
        })
        .meta({ id: 'NewToken' }),
      answers: { 201: { text: 'The token with its secret.' } },
      handle: ({ body: { expiresInMs, ...rest } }) => ({
        status: 201,
        json: tokens.add({ ...rest, ...(expiresInMs !== undefined && { expiresInMs }) }),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/v1/tokens/{tokenId}',
      name: 'deleteToken',
      summary: 'Ends a token, and every stream that was opened with it.',
      scope: 'admin',
      tokenOnly: true,
      answers: { 204: { text: 'Ended.' }, 404: { text: 'There is no such token.' } },
      handle: ({ params: { tokenId = '' } }) => {
        if (!tokens.remove(tokenId)) throw new Problem(404, 'no_token', 'There is no token of this id.');
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/cookie',
      name: 'exchangeToken',
      summary:
        'Gives a page a cookie for its token, which no script can read, and the key that it sends with the cookie.',
      body: z.strictObject({ token: z.string().max(200) }).meta({ id: 'TokenExchange' }),
      answers: {
        200: { text: 'The cookie is set.', schema: z.object({ key: z.string() }).meta({ id: 'PageKey' }) },
        401: { text: 'The token is not valid.' },
      },
      handle: ({ body, request }) => {
        const info = tokens.find(body.token);
        if (info === undefined) throw new Problem(401, 'unauthorized', 'This token is not valid.');
        const age = Math.floor(cookies.lifetimeMs / 1000);
        const secure = request.headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
        const { value, key } = cookies.issue(info.id);
        const cookie = `${cookieName}=${value}; Max-Age=${age}; Path=/; HttpOnly; SameSite=Strict${secure}`;
        return { status: 200, json: { key }, headers: { 'set-cookie': cookie } };
      },
    }),
  ];
}

/** What those who run the server ask it. */
export function operationRoutes({ meters, readiness }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/livez',
      name: 'live',
      summary: 'Answers while the process works.',
      answers: { 200: { text: 'It does.' } },
      handle: () => ({ status: 200, json: { status: 'ok' } }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      name: 'ready',
      summary: 'Answers 200 while prompts can be served: tries a write in the store.',
      answers: {
        200: { text: 'They can.' },
        503: { text: 'The store cannot be written, or the server is stopping.' },
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
      summary: 'Figures in the text format of Prometheus.',
      scope: 'read',
      answers: { 200: { text: 'All figures.', type: 'text/plain' } },
      handle: () => ({
        status: 200,
        text: meters.text(),
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      }),
    }),
  ];
}
