import type { IncomingMessage, ServerResponse } from 'node:http';
import { sessionIdPattern } from '@cobbler/agent/store';
import type { z } from 'zod';
import type { TokenInfo } from '../auth/token-store.ts';
import type { Problem } from '../requests/problem.ts';
import type { Scope } from '../requests/scope.ts';

/** A validated request for a handler. */
export interface RouteRequest<Body = unknown, Query = unknown> {
  /** Variables of the path; ids hold nothing that could be taken amiss. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly requestId: string;
  /** Whose token it is; absent on open routes. */
  readonly token?: TokenInfo;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** An answer; without one the handler has taken the response over. */
export interface RouteResponse {
  readonly status: number;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged; its type is in `headers`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A possible response of a route, for its description. */
export interface AnswerText {
  readonly text: string;
  readonly schema?: z.ZodType;
  /** Default `application/json`. */
  readonly type?: string;
}

/** One operation of the API: its description and its work. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With variables in braces: `/v1/sessions/{sessionId}`. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  /** The required scope. Absent: public. */
  readonly scope?: Scope;
  /** Needs the token itself: the cookie of a page does not count. */
  readonly tokenOnly?: boolean;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** True if the body is optional. */
  readonly bodyOptional?: boolean;
  /** Request headers with a meaning of their own. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<number, AnswerText>>;
  /** The format of its problems, if it uses another protocol. Default: RFC 9457. */
  readonly problem?: (problem: Problem, requestId: string) => RouteResponse;
  readonly handle: (call: RouteRequest) => RouteResponse | undefined | Promise<RouteResponse | undefined>;
}

/** A route whose handler knows the types of its body and query. */
export function route<
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>(definition: {
  readonly method: Route['method'];
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly scope?: Scope;
  readonly tokenOnly?: boolean;
  readonly query?: Query;
  readonly body?: Body;
  readonly bodyOptional?: boolean;
  readonly headers?: Route['headers'];
  readonly answers: Route['answers'];
  readonly problem?: Route['problem'];
  readonly handle: (
    call: RouteRequest<z.output<Body>, z.output<Query>>,
  ) => RouteResponse | undefined | Promise<RouteResponse | undefined>;
}): Route {
  return definition as unknown as Route;
}

/** A route found for a request. */
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

  /** The route, or the methods that the path knows: none at all for a path that is not there. */
  find(method: string, path: string): Match | readonly string[] {
    const methods: string[] = [];
    const meant = plain(path);
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

/** Ids of sessions, approvals and tokens: nothing that a path or a header could take amiss. */
export const idPattern: string = sessionIdPattern;

function patternOf(path: string): RegExp {
  const source = path.replace(/[.]/g, '\\.').replace(/\{(\w+)\}/g, `(?<$1>${idPattern})`);
  return new RegExp(`^${source}$`);
}

/** The path as its sender means it: what may stand as it is may be written in hexadecimal too. */
function plain(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(/%(?:3A|40|2E|2D|5F)/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
}
