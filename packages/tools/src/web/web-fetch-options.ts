import type { Reader } from '@cobbler/agent/input';
import { callable, listOf, record } from '@cobbler/agent/input';
import { allowedHost } from '@cobbler/agent/sandbox';
import type { WebRequest } from './web-request.ts';

/** Maximum number of bytes of a page that are read, after decompression. */
export const maxPageBytes = 5_000_000;

/** Arguments of web_fetch. */
export interface WebFetchArgs {
  /** An http or https URL. */
  readonly url: string;
  /** Offset of the first character to return. */
  readonly offset?: number;
}

/** What web_fetch can reach, and its effects. */
export interface WebFetchOptions {
  /**
   * Hosts to which redirects from other hosts are followed, and whose ports are allowed in addition to 80 and 443:
   * `HOST`, `HOST:PORT` or `*.HOST`. Default: none.
   */
  readonly allowHosts?: readonly string[];
  /**
   * Returns whether a redirect is followed. `isSame` is true if the redirect leads to the same host, and not from https to
   * http. Default: follows these redirects, and redirects to the hosts in `allowHosts`.
   */
  readonly mayFollow?: (url: string, isSame: boolean) => boolean;
  /** Returns the addresses of a name. Default: the resolver of the system. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Returns whether an address may be reached. Default: whether it is public. */
  readonly isPublic?: (address: string) => boolean;
  /** Sends a request. Default: node:http and node:https. */
  readonly request?: WebRequest;
}

export const readOptions: Reader<WebFetchOptions> = record<WebFetchOptions>({
  allowHosts: listOf(allowedHost),
  mayFollow: callable,
  resolve: callable,
  isPublic: callable,
  request: callable,
});

/** Maximum number of characters of text in a result. */
export const maxCharacters = 50_000;
