import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { addAbortSignal } from 'node:stream';
import { AgentError } from '@cobbler/agent';
import { allowsUrl } from '@cobbler/agent/sandbox';
import { notFetched, readUrl } from './url.ts';

/** The start of a response. */
export interface WebResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readable;
}

/** Sends a GET request for a URL to the first of these addresses that responds. Follows no redirect. */
export type WebRequest = (
  url: URL,
  addresses: readonly string[],
  signal: AbortSignal,
) => Promise<WebResponse>;

/** What a request can reach. */
export interface WebAccess {
  /** Hosts whose ports are allowed in addition to 80 and 443. */
  readonly allowHosts: readonly string[];
  /** Returns whether a redirect is followed. `isSame`: to the same host, and not from https to http. */
  readonly mayFollow: (url: URL, isSame: boolean) => boolean;
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly isPublic: (address: string) => boolean;
  readonly request: WebRequest;
}

/** A response, or the URL of another host to which it redirects. */
export type WebAnswer =
  | { readonly url: URL; readonly response: WebResponse }
  | { readonly url: URL; readonly redirect: URL };

/** Maximum number of redirects of one call. */
const maxRedirects = 5;

/** Sends a request and follows redirects. Every URL on the way is checked. @throws AgentError `tool`. */
export async function openUrl(first: URL, access: WebAccess, signal: AbortSignal): Promise<WebAnswer> {
  let url = first;
  for (let count = 0; count <= maxRedirects; count += 1) {
    const response = await send(url, access, signal);
    const { location } = response.headers;
    if (response.status < 300 || response.status > 399 || typeof location !== 'string')
      return { url, response };
    response.body.on('error', () => {}).destroy();
    const next = readUrl(location, url);
    const isSame = next.hostname === url.hostname && (next.protocol === 'https:' || url.protocol === 'http:');
    if (!access.mayFollow(next, isSame)) return { url, redirect: next };
    url = next;
  }
  throw notFetched(`${first.href} redirects more than ${maxRedirects} times.`);
}

async function send(url: URL, access: WebAccess, signal: AbortSignal): Promise<WebResponse> {
  const addresses = await addressesFor(url, access);
  signal.throwIfAborted();
  try {
    const response = await access.request(url, addresses, signal);
    addAbortSignal(signal, response.body);
    return response;
  } catch (error) {
    signal.throwIfAborted();
    throw notFetched(`The request to ${url.host} failed: ${AgentError.from(error, 'tool').message}`);
  }
}

/** Returns the addresses to connect to. They are the ones that were checked, so the name cannot get others in between. */
async function addressesFor(
  url: URL,
  { allowHosts, resolve, isPublic }: WebAccess,
): Promise<readonly string[]> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw notFetched(`${url.protocol} is not supported. Use http or https.`);
  if (url.username !== '' || url.password !== '')
    throw notFetched('URLs with a user name or password are not fetched. Remove the user name and password.');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) > 0 ? [host] : await resolve(host).catch(() => []);
  if (found.length === 0) throw notFetched(`The name ${host} was not found.`);
  const addresses = found.filter((address) => isPublic(address));
  if (addresses.length === 0)
    throw notFetched(`${host} is a private address or resolves to one. Only public addresses are fetched.`);
  // Checked last, because no option allows a port of a private address.
  if (url.port !== '' && !allowHosts.some((one) => allowsUrl(one, url.href)))
    throw notFetched(`Port ${url.port} is not allowed. The user can allow it with --allow-host ${url.host}.`);
  return addresses;
}

/** Sends requests with node:http and node:https, without cookies or credentials. */
export const nodeRequest: WebRequest = async (url, addresses, signal) => {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_host, _options, done) => done(null, all);
  // Importing node:http also loads all of Node's fetch, which would make every start slower.
  const { request: start } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
  const headers = {
    'user-agent': 'cobbler',
    accept: 'text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5',
    'accept-encoding': 'gzip, deflate, br',
  };
  // The types of node:http lack this option of node:net, with which `lookup` can return several addresses.
  const several = { autoSelectFamily: true };
  const request = start(url, { agent: false, lookup, headers, signal, ...several });
  // An error after the response has started reaches its body.
  request.on('error', () => {}).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: response };
};
