/**
 * Ends a `switch` over all members of a union: a new member causes a compiler error here.
 * @throws Error for a value that is not of the type, which is only possible for external data.
 */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
