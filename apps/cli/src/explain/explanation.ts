import type { ErrorKind } from '@cobbler/agent';

/** The explanation of an error code. */
export interface Explanation {
  readonly code: string;
  /** The kinds of errors with this code; none for what only a request over HTTP or the command line can meet. */
  readonly kinds?: readonly ErrorKind[];
  /** HTTP statuses that the server gives it. */
  readonly status?: readonly number[];
  /** The cause. */
  readonly what: string;
  /** The solution. */
  readonly todo: string;
  /** The page that says more, from the root of the project. */
  readonly see?: string;
}

/** Errors that are met at the same work. */
export interface Area {
  readonly title: string;
  readonly entries: readonly Explanation[];
}
