import { defined } from '@cobbler/agent/values';

/** The route of the page, from its address. */
export interface PageRoute {
  /** If absent, the page shows the start of a new session. */
  readonly sessionId?: string;
  /** True for the page with the costs of all sessions. */
  readonly isCosts?: true;
  /** The event to navigate to. */
  readonly seq?: number;
}

/** Parses an address such as `/s/ID#e42` or `/costs`. */
export function parseRoute({ pathname, hash }: Pick<Location, 'pathname' | 'hash'>): PageRoute {
  const id = /^\/s\/([^/]+)$/.exec(pathname)?.[1];
  const seq = /^#e(\d+)$/.exec(hash)?.[1];
  return {
    ...defined({
      sessionId: id === undefined ? undefined : decodeURIComponent(id),
      isCosts: pathname === '/costs' ? (true as const) : undefined,
      seq: seq === undefined ? undefined : Number(seq),
    }),
  };
}

/** Returns the address of a route. */
export function addressOf({ sessionId, isCosts, seq }: PageRoute): string {
  if (isCosts) return '/costs';
  const path = sessionId === undefined ? '/' : `/s/${encodeURIComponent(sessionId)}`;
  return seq === undefined ? path : `${path}#e${seq}`;
}

/** Returns the token in the fragment of an address, which no server ever sees. */
export function tokenIn({ hash }: Pick<Location, 'hash'>): string | undefined {
  return new URLSearchParams(hash.slice(1)).get('token') ?? undefined;
}
