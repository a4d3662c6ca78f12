import { isIP } from 'node:net';
import type { Reader } from '../values/input.ts';
import { read, text as string, when } from '../values/input.ts';

/** A host that programs can connect to. */
export interface AllowedHost {
  /** A name, or `*.NAME` for all its subdomains. */
  readonly name: string;
  readonly ports: readonly number[];
}

const form = /^(\*\.)?([^\s:/?#@\\[\]*]+)(?::(\d{1,5}))?$/;

/** How to write a host, for error messages. */
export const hostAdvice = 'HOST, HOST:PORT or *.HOST, without an address such as 10.0.0.1';

/** Reads `HOST`, `HOST:PORT` or `*.HOST`; returns undefined for anything else, such as an IP address or `*.com`. */
export function parseAllowedHost(text: string): AllowedHost | undefined {
  const [, star = '', given = '', port] = form.exec(read(text, string, 'text')) ?? [];
  const name = hostName(given);
  const isTooWide = star !== '' && name?.includes('.') !== true;
  if (name === undefined || isIP(name) > 0 || isTooWide) return undefined;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return undefined;
  return { name: star + name, ports: port === undefined ? [80, 443] : [Number(port)] };
}

/** Reads an entry of a list of hosts. */
export const allowedHost: Reader<string> = when(
  (value) => typeof value === 'string' && parseAllowedHost(value) !== undefined,
  hostAdvice,
);

/** Returns a host as URLs contain it: in lower case, in ASCII and without a dot at the end. */
export function hostName(text: string): string | undefined {
  return URL.parse(`http://${text}`)?.hostname.replace(/\.$/, '') || undefined;
}

/** Returns whether an entry allows a connection. `host` comes from {@link hostName}. */
export function allowsHost({ name, ports }: AllowedHost, host: string, port: number): boolean {
  return ports.includes(port) && (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name);
}

/** Returns whether an entry of a list of hosts, such as `*.example.com:8443`, allows connections for an http or https URL. */
export function allowsUrl(entry: string, address: string): boolean {
  const host = parseAllowedHost(entry);
  const url = URL.parse(read(address, string, 'address'));
  if (host === undefined || url === null) return false;
  return allowsHost(host, url.hostname, Number(url.port || (url.protocol === 'https:' ? 443 : 80)));
}
