/**
 * The command line, a file it names or the configuration cannot be used: exit code 2. The message says what
 * is wrong, the advice what to do, one line each.
 */
export class UsageError extends Error {
  readonly advice: readonly string[];
  /** `usage`, or the word for a cause that other errors have, too. */
  readonly code: string = 'usage';

  constructor(message: string, ...advice: readonly string[]) {
    super(message);
    this.name = 'UsageError';
    this.advice = advice;
  }
  /** With the code of a cause that other errors have, too. */
  static coded(code: string, message: string, ...advice: readonly string[]): UsageError {
    return Object.assign(new UsageError(message, ...advice), { code });
  }
}
