import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

const headerList = fileURLToPath(new URL('./tsup.header-list.ts', import.meta.url));

/** Modules with which Anthropic's client sends requests, reads responses, looks for credentials and records traces. */
const unused =
  /@anthropic-ai[\\/]sdk[\\/](lib|core[\\/](?!error\.)|internal[\\/](decoders|parse|qs|to-file|uploads)\b)/;
const tracing = /^import .* from '@opentelemetry\/api';$/m;

/**
 * Keeps a bundled client of a vendor from loading Node's `fetch`, which takes longer than the rest of the first request:
 * `Headers` becomes a plain list, and the classes of bodies, which it only compares with, do not exist. The client
 * receives no body and sends nothing. What Anthropic's client does not need for that is left out.
 */
export const clientsWithoutFetch: Plugin = {
  name: 'clients-without-fetch',
  setup(build) {
    build.onLoad({ filter: /[\\/](@anthropic-ai[\\/]sdk|openai)[\\/].*\.m?js$/ }, ({ path }) => {
      if (unused.test(path)) return { contents: '' };
      const whole = readFileSync(path, 'utf8').replace(tracing, '');
      const text = whole.replace(/globalThis\.(ReadableStream|Blob)\b/g, 'undefined');
      const usesHeaders = /\b(new|instanceof) Headers\b/.test(text);
      const given = usesHeaders ? `import { HeaderList as Headers } from ${JSON.stringify(headerList)};` : '';
      return { contents: given + text };
    });
  },
};
