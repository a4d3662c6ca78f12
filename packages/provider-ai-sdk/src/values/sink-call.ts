import type { ResponseSink } from '@cobbler/agent/provider';

type SinkArguments = { readonly [Method in keyof ResponseSink]: Parameters<ResponseSink[Method]> };

/** A call of a {@link ResponseSink} method as data: the name of the method and its arguments. */
export type SinkCall<Method extends keyof ResponseSink = keyof ResponseSink> = {
  readonly [Name in Method]: readonly [method: Name, ...SinkArguments[Name]];
}[Method];

/** A sink call, or an event of the service that the SDK does not know, as an object. */
export type SinkPayload = SinkCall | Readonly<Record<string, unknown>>;

/** Returns true for a sink call. */
export function isSinkCall(payload: unknown): payload is SinkCall {
  return Array.isArray(payload);
}

/** Makes the recorded call on a sink. */
export function utter<Method extends keyof ResponseSink>(
  [method, ...values]: readonly [method: Method, ...SinkArguments[Method]],
  out: { readonly [Name in keyof ResponseSink]: (...values: SinkArguments[Name]) => void },
): void {
  out[method](...values);
}
