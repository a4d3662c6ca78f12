/**
 * Closes a `switch` over all members of a union: a new member is an error of the compiler here.
 * @throws Error for a value that is not of the type, which only data from outside can be.
 */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
