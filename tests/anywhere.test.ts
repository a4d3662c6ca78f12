import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Globals of every runtime with web standards, without the globals of Node. */
const WEB = {
  AbortController,
  AbortSignal,
  clearTimeout,
  crypto,
  fetch,
  Headers,
  performance,
  queueMicrotask,
  ReadableStream,
  Request,
  Response,
  setTimeout,
  structuredClone,
  TextDecoder,
  TextEncoder,
  TransformStream,
  URL,
};

/** Returns an entry and its imports as one script, resolved as in a runtime with this condition. */
async function bundle(entry: string, condition: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'packages/agent/src', entry)],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'entry',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@cobbler/source', condition],
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

describe.each(['workerd', 'browser', 'deno'])('with the export conditions of %s', (condition) => {
  test.each(['index.ts', 'provider/index.ts', 'events/index.ts', 'store/index.ts'])(
    'the entry %s of @cobbler/agent bundles and loads without Node modules and globals',
    async (entry) => {
      const context = createContext({ ...WEB });
      runInContext(await bundle(entry, condition), context);
      expect(Object.keys(runInContext('entry', context)).length).toBeGreaterThan(0);
    },
  );
});
