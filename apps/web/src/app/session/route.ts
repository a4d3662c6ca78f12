import { defined } from '@cobbler/agent/values';

/** The route of the page, from its address. */
export interface PageRoute {
  /** If absent, the page shows the start of a new session. */
  readonly sessionId?: string;
  /** The event to navigate to. */
  readonly seq?: number;
}

/** Parses an address such as `/s/ID#e42`. */
export function parseRoute({ pathname, hash }: Pick<Location, 'pathname' | 'hash'>): PageRoute {
  const id = /^\/s\/([^/]+)$/.exec(pathname)?.[1];
  const seq = /^#e(\d+)$/.exec(hash)?.[1];
  return {
    ...defined({
      sessionId: id === undefined ? undefined : decodeURIComponent(id),
      seq: seq === undefined ? undefined : Number(seq),
    }),
  };
}

/** Returns the address of a route. */
export function addressOf({ sessionId, seq }: PageRoute): string {
  const path = sessionId === undefined ? '/' : `/s/${encodeURIComponent(sessionId)}`;
  return seq === undefined ? path : `${path}#e${seq}`;
}

/** Returns the token in the fragment of an address, which no server ever sees. */
export function tokenIn({ hash }: Pick<Location, 'hash'>): string | undefined {
  return new URLSearchParams(hash.slice(1)).get('token') ?? undefined;
}
