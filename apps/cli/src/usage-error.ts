/**
 * The command line, a file it names or the configuration cannot be used: exit code 2. The message says what
 * is wrong, the advice what to do, one line each.
 */
export class UsageError extends Error {
  readonly advice: readonly string[];

  constructor(message: string, ...advice: readonly string[]) {
    super(message);
    this.name = 'UsageError';
    this.advice = advice;
  }
}
