import type { Rig } from './rig.ts';

/** A valid body for each route with a session that needs one. A new route that needs one has to be added here. */
export const sessionBodies: Readonly<Record<string, unknown>> = {
  'PATCH /v1/sessions/{sessionId}': { title: 'Mine' },
  'POST /v1/sessions/{sessionId}/prompt': { content: 'say Hi.' },
  'POST /v1/sessions/{sessionId}/steer': { content: 'Stop.' },
  'POST /v1/sessions/{sessionId}/undo': { hash: 'x' },
  'POST /v1/sessions/{sessionId}/redo': { hash: 'x' },
  'POST /v1/sessions/{sessionId}/chat': {
    messages: [{ id: 'a', role: 'user', parts: [{ type: 'text', text: 'say Hi.' }] }],
  },
  'POST /v1/sessions/{sessionId}/approvals/{approvalId}': { decision: 'deny' },
};

/** A route of the API with a session in its path. */
export interface SessionRoute {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly scope: string;
}

/** Returns every route of the API description with a session in its path. */
export async function sessionRoutesOf({ ask }: Pick<Rig, 'ask'>): Promise<readonly SessionRoute[]> {
  const { paths } = (await ask('GET', '/openapi.json')).json as {
    paths: Record<string, Record<string, { 'x-scope': string }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    path.includes('{sessionId}')
      ? Object.entries(methods).map(([lower, { 'x-scope': scope }]) => {
          const method = lower.toUpperCase();
          return { name: `${method} ${path}`, method, path, scope };
        })
      : [],
  );
}
