import type { D1Answer, D1Statement } from '@cobbler/assistant/cloudflare';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { d1Sql } from '../../../packages/assistant/src/cloudflare/d1-sql.ts';
import { migrations } from '../../../packages/assistant/src/storage/schema.ts';
import type { Sql } from '../../../packages/assistant/src/storage/sql.ts';
import type { PlaceSubject } from '../../../packages/assistant/src/testing/place.ts';
import type { Over } from '../../../packages/assistant/test/support/places.ts';

/** Performs the calls of the proxy below in workerd, because each call through Miniflare's own proxy takes 30 ms. */
const script = `export default {
  async fetch(request, { DB }) {
    const value = (given) => (given?.bytes === undefined ? given : new Uint8Array(given.bytes).buffer);
    const bound = ({ text, values }) => DB.prepare(text).bind(...values.map(value));
    try {
      return Response.json(await DB.batch((await request.json()).map(bound)));
    } catch (error) {
      return new Response(error.message, { status: 500 });
    }
  },
};`;

interface Bound extends D1Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

function plainValue(value: unknown): unknown {
  return value instanceof ArrayBuffer ? { bytes: [...new Uint8Array(value)] } : value;
}

/** A D1 database in workerd, one for all cases. */
export class D1Place {
  readonly #miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script,
      compatibilityDate: '2026-11-01',
      d1Databases: ['DB'],
    }),
  );

  async sql(): Promise<Sql> {
    const batch = async (statements: readonly D1Statement[]): Promise<D1Answer[]> => {
      const body = JSON.stringify(statements as readonly Bound[]);
      const response = await this.#miniflare.dispatchFetch('http://d1.invalid/', { method: 'POST', body });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()) as D1Answer[];
    };
    const bind = (text: string, values: readonly unknown[]): Bound => {
      const statement: Bound = {
        text,
        values: values.map(plainValue),
        bind: (...given) => bind(text, given),
        async all() {
          const [answer] = await batch([statement]);
          if (answer === undefined) throw new Error('D1 did not respond.');
          return answer;
        },
      };
      return statement;
    };
    return d1Sql({ prepare: (text) => bind(text, []), batch });
  }

  async migrate(): Promise<void> {
    const sql = await this.sql();
    for (const { statements } of migrations) await sql.batch(statements.map((text) => ({ text })));
  }

  /** Empties the database before each case. */
  subject<Thing>(over: Over<Thing>): PlaceSubject<Thing> {
    return {
      name: 'd1',
      begin: async () => {
        const sql = await this.sql();
        await empty(sql);
        return { open: (means) => over(sql, means), close: async () => {} };
      },
    };
  }

  dispose(): Promise<void> {
    return this.#miniflare.dispose();
  }
}

/** Deletes all rows except those that the schema inserts. */
export async function empty(sql: Sql): Promise<void> {
  const { rows } = await sql.run(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'memory_words_%' AND name <> 'counters'",
  );
  await sql.batch(rows.map(({ name }) => ({ text: `DELETE FROM ${String(name)}` })));
}
