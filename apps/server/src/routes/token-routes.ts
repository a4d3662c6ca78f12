import { defined } from '@cobbler/agent/values';
import { z } from 'zod';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { cookieName } from '../requests/cookie.ts';
import { Problem } from '../requests/problem.ts';
import { scopes as allScopes } from '../requests/scope.ts';
import { tokenInfo, tokenLimits, userName } from './schemas.ts';
import type { Services } from './services.ts';

/** Returns the routes for tokens, and for the cookie that stands for one in a browser. */
export function tokenRoutes({ tokens, cookies, tokenBudgets }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/tokens',
      name: 'listTokens',
      summary: 'Lists tokens without their secrets.',
      scope: 'admin',
      answers: { 200: { text: 'All tokens.', schema: z.object({ items: z.array(tokenInfo) }) } },
      handle: () => ({ status: 200, json: { items: tokens.list() } }),
    }),
    route({
      method: 'POST',
      path: '/v1/tokens',
      name: 'createToken',
      summary: 'Creates a token for the user `name`. Its secret is shown only once.',
      scope: 'admin',
      body: z
        .strictObject({
          name: userName,
          scopes: z.array(z.enum(allScopes)).min(1),
          expiresInMs: z.int().positive().optional(),
          budget: z.string().min(1).max(200).optional(),
          ...tokenLimits,
        })
        .meta({ id: 'NewToken' }),
      answers: {
        201: { text: 'The token with its secret.' },
        400: { text: "The budget does not exist, or is not part of the server's budget." },
      },
      handle: async ({ body: { name, scopes, ...limits } }) => {
        if (limits.budget !== undefined) await tokenBudgets.checkName(limits.budget);
        return { status: 201, json: tokens.add({ name, scopes, ...defined(limits) }) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/v1/tokens/{tokenId}',
      name: 'deleteToken',
      summary: 'Revokes a token and closes every stream opened with it.',
      scope: 'admin',
      answers: { 204: { text: 'Ended.' }, 404: { text: 'There is no such token.' } },
      handle: ({ params: { tokenId = '' } }) => {
        if (!tokens.remove(tokenId))
          throw new Problem(
            404,
            'no_token',
            'There is no token with this id. List the tokens: GET /v1/tokens',
          );
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/cookie',
      name: 'exchangeToken',
      summary:
        'Sets a cookie for the token. Scripts cannot read the cookie. Returns the key that each request must send with the cookie.',
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
