import type { IncomingMessage, ServerResponse } from 'node:http';
import { sessionIdPattern } from '@cobbler/agent/store';
import type { z } from 'zod';
import type { TokenInfo } from '../auth/token-store.ts';
import type { Problem } from '../requests/problem.ts';
import type { Scope } from '../requests/scope.ts';

/** A validated request for a handler. */
export interface RouteRequest<Body = unknown, Query = unknown> {
  /** Variables of the path; ids contain only harmless characters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly requestId: string;
  /** The token of the request; absent on public routes. */
  readonly token?: TokenInfo;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A response. Without one, the handler writes the response itself. */
export interface RouteResponse {
  readonly status: number;
  readonly json?: unknown;
  /** Sent unchanged; `headers` contains its type. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A description of a possible response of a route. */
export interface ResponseText {
  readonly text: string;
  readonly schema?: z.ZodType;
  /** Default: `application/json`. */
  readonly type?: string;
}

/** An operation of the API: its description and its handler. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path with variables in braces: `/v1/sessions/{sessionId}`. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  /** The required scope. Absent: the route is public. `admin` requires the token itself, not the cookie of a page. */
  readonly scope?: Scope;
  /** True if the rate of a token does not limit it, although it changes something: it only stops work. */
  readonly isFree?: boolean;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly bodyOptional?: boolean;
  /** Request headers with a specific meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<number, ResponseText>>;
  /** Converts its problems, if it uses another protocol. Default: RFC 9457. */
  readonly problem?: (problem: Problem, requestId: string) => RouteResponse;
  readonly handle: (call: RouteRequest) => RouteResponse | undefined | Promise<RouteResponse | undefined>;
}

/** Creates a route whose handler has typed body and query. */
export function route<Body extends z.ZodType = z.ZodUndefined, Query extends z.ZodType = z.ZodUndefined>(
  definition: Omit<Route, 'query' | 'body' | 'handle'> & {
    readonly query?: Query;
    readonly body?: Body;
    readonly handle: (call: RouteRequest<z.output<Body>, z.output<Query>>) => ReturnType<Route['handle']>;
  },
): Route {
  return definition as unknown as Route;
}

/** The route for a request. */
export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds routes by method and path. */
export class Router {
  readonly #routes: readonly { readonly pattern: RegExp; readonly route: Route }[];

  constructor(routes: readonly Route[]) {
    this.#routes = routes.map((one) => ({ pattern: patternOf(one.path), route: one }));
  }

  /** Returns the route, or the methods of the path: an empty list for an unknown path. */
  find(method: string, path: string): Match | readonly string[] {
    const methods: string[] = [];
    const meant = normalizePath(path);
    for (const { pattern, route: found } of this.#routes) {
      const match = pattern.exec(meant);
      if (match === null) continue;
      if (found.method === method || (method === 'HEAD' && found.method === 'GET')) {
        return { route: found, params: { ...match.groups } };
      }
      methods.push(found.method);
    }
    return methods;
  }
}

/** Pattern for ids of sessions, approvals and tokens, which contain only characters that are safe in paths and headers. */
export const idPattern: string = sessionIdPattern;

function patternOf(path: string): RegExp {
  const source = path.replace(/[.]/g, '\\.').replace(/\{(\w+)\}/g, `(?<$1>${idPattern})`);
  return new RegExp(`^${source}$`);
}

/** Normalizes a path: unreserved characters may also be percent-encoded. */
function normalizePath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(/%(?:3A|40|2E|2D|5F)/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
}
