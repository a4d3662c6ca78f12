import { STATUS_CODES } from 'node:http';
import { AgentError } from '@cobbler/agent';

/** The optional fields of a problem. */
export interface ProblemRest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Additional fields of the document, such as the id of the active run. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** A rejected request in a form that is safe to send to the client: no stack trace, no local path. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, detail: string, rest: ProblemRest = {}) {
    super(detail);
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.headers = rest.headers ?? {};
    this.extra = rest.extra ?? {};
  }
}

/** Returns the RFC 9457 document of a problem. */
export function problemDocument(problem: Problem, requestId: string): Record<string, unknown> {
  return {
    type: `urn:cobbler:problem:${problem.code}`,
    title: STATUS_CODES[problem.status] ?? 'Error',
    status: problem.status,
    detail: problem.message,
    code: problem.code,
    requestId,
    ...problem.extra,
  };
}

const statuses: Readonly<Record<string, number>> = {
  busy: 409,
  prompt_too_large: 413,
  too_many_waiting: 429,
  no_session: 404,
  no_event: 404,
  fenced: 409,
  in_use: 409,
  closed: 503,
  store: 503,
  store_damaged: 503,
  store_missing: 503,
};

/** Converts the reason why a run did not start to a problem. */
export function problemOf(error: AgentError | undefined, extra: Record<string, unknown> = {}): Problem {
  const code = error?.code ?? error?.kind ?? 'internal';
  const status = statuses[code] ?? (error?.kind === 'invalid' ? 400 : 500);
  const retry = status === 503 ? { headers: { 'retry-after': '5' } } : {};
  const detail =
    status === 500 ? 'The run could not be started.' : (error?.message ?? 'The run did not start.');
  return new Problem(status, code, detail, { ...retry, extra });
}

/** The problem that a session is running, or that something else happens in it. */
export function busyProblem(runId: string | undefined): Problem {
  const detail = 'This session is running. Send a message to its run, cancel it, or wait for its end.';
  return new Problem(409, 'busy', detail, { extra: runId === undefined ? {} : { runId } });
}

/** Converts anything thrown to a problem. Unexpected errors reveal no details. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  if (AgentError.is(thrown) && thrown.kind === 'invalid') return problemOf(thrown);
  return new Problem(500, 'internal', 'Internal error. See the server log.');
}
