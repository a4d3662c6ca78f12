import type { Serde } from '@restatedev/restate-sdk';

/** Serializes values between handlers as JSON; `undefined` is serialized to zero bytes. */
export function jsonSerde<Value>(): Serde<Value> {
  return {
    contentType: 'application/json',
    serialize: (value) => new TextEncoder().encode(value === undefined ? '' : JSON.stringify(value)),
    deserialize: (bytes) =>
      (bytes.length === 0 ? undefined : JSON.parse(new TextDecoder().decode(bytes))) as Value,
  };
}
