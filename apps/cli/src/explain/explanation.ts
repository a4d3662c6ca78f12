import type { ErrorKind } from '@cobbler/agent';

/** The explanation of an error code. */
export interface Explanation {
  readonly code: string;
  /** The kinds of errors with this code; absent for codes that occur only in HTTP requests or on the command line. */
  readonly kinds?: readonly ErrorKind[];
  /** HTTP statuses that the server returns for it. */
  readonly status?: readonly number[];
  /** The cause. */
  readonly what: string;
  /** The solution. */
  readonly todo: string;
  /** The page with more information, relative to the root of the project. */
  readonly see?: string;
}

/** A group of related errors. */
export interface Area {
  readonly title: string;
  readonly entries: readonly Explanation[];
}
