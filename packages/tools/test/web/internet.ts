import { Readable } from 'node:stream';
import type { WebFetchOptions, WebRequest } from '../../src/web/web-fetch.ts';
import { webFetchTool } from '../../src/web/web-fetch.ts';
import type { Called, CallOptions } from '../sandbox.ts';
import { call } from '../sandbox.ts';

/** The response of a server: a text, or its parts. */
export type Page =
  | string
  | {
      readonly status?: number;
      readonly headers?: Record<string, string>;
      readonly body?: string | Uint8Array | Readable;
    };

/** An internet without a network: pages by URL, and the addresses of names. Any other name has a public address. */
export class Internet {
  readonly pages: Record<string, Page> = {};
  /** The addresses of a name, at each look-up in turn; the last one repeats. */
  readonly names: Record<string, string[]> = {};
  /** Each connection: URL and address. */
  readonly connections: string[] = [];
  readonly #lookups = new Map<string, number>();

  readonly request: WebRequest = async (url, addresses) => {
    this.connections.push(`${url.href} ${addresses.join()}`);
    const page = this.pages[url.href];
    if (page === undefined) throw new Error('connection refused');
    const {
      status = 200,
      headers = { 'content-type': 'text/html' },
      body = '',
    } = typeof page === 'string' ? { body: page } : page;
    const bytes = body instanceof Readable ? body : Readable.from([Buffer.from(body as string)]);
    return { status, headers, body: bytes };
  };

  readonly resolve = async (host: string): Promise<string[]> => {
    const all = this.names[host] ?? ['93.184.216.34'];
    const count = this.#lookups.get(host) ?? 0;
    this.#lookups.set(host, count + 1);
    return [all[Math.min(count, all.length - 1)] ?? ''];
  };

  fetch(args: Record<string, unknown>, options: WebFetchOptions & CallOptions = {}): Promise<Called> {
    const { signal, ...own } = options;
    const tool = webFetchTool({ request: this.request, resolve: this.resolve, ...own });
    return call(tool, args, signal === undefined ? {} : { signal });
  }

  /** Serves a redirect. */
  redirect(from: string, location: string, status = 302): void {
    this.pages[from] = { status, headers: { location } };
  }
}
