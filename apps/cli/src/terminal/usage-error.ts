/** An invalid command line, file or configuration: exit code 2. Each line of the advice is a solution. */
export class UsageError extends Error {
  readonly advice: readonly string[];
  /** `usage`, or a code that other errors share. */
  readonly code: string = 'usage';

  constructor(message: string, ...advice: readonly string[]) {
    super(message);
    this.name = 'UsageError';
    this.advice = advice;
  }
  /** Creates an error with a code that other errors share. */
  static withCode(code: string, message: string, ...advice: readonly string[]): UsageError {
    return Object.assign(new UsageError(message, ...advice), { code });
  }

  /** Creates the error for data that has no place. */
  static noHome(what: string): UsageError {
    const message = `${what} cannot be stored, because there is no home directory.`;
    return new UsageError(message, 'Set COBBLER_HOME to a directory.');
  }
}
