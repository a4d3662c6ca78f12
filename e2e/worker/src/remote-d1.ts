import type { D1, D1Answer, D1Statement } from '@cobbler/assistant/cloudflare';
import type { Door } from './workerd.ts';

/** A statement that is sent to the worker with the database. */
export interface RemoteStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Returns a D1 database behind a route of a worker. */
export function remoteD1(door: Door): D1 {
  const batch = async (statements: readonly D1Statement[]): Promise<D1Answer[]> =>
    (await door('/d1', statements as readonly (D1Statement & RemoteStatement)[])) as D1Answer[];
  const bind = (text: string, values: readonly unknown[]): D1Statement & RemoteStatement => {
    const statement = {
      text,
      values: values.map(sent),
      bind: (...given: unknown[]) => bind(text, given),
      async all() {
        const [answer] = await batch([statement]);
        if (answer === undefined) throw new Error('D1 did not respond.');
        return answer;
      },
    };
    return statement;
  };
  return { prepare: (text) => bind(text, []), batch };
}

function sent(value: unknown): unknown {
  return value instanceof ArrayBuffer ? { bytes: [...new Uint8Array(value)] } : value;
}
