import type { RequestRules, ScriptFault, SentRequest } from './provider-testing.ts';

/** A request that breaks the rules, as the service reports it. */
export interface Breach {
  readonly fault: ScriptFault;
  readonly status?: number;
  /** The rejected key. */
  readonly key?: string;
  /** True if the key was valid before. */
  readonly isExpired?: boolean;
}

/**
 * Returns how a request breaks the rules; undefined if it does not.
 *
 * @param keys the last key is valid, and the ones before it have expired. Without keys, none is required.
 */
export function breachOf(
  rules: RequestRules,
  request: SentRequest,
  keys: readonly string[],
): Breach | undefined {
  const { method, url, headers } = request;
  const { pathname, searchParams } = new URL(url);
  const invalid = (message: string, status?: number): Breach => ({
    fault: { kind: 'invalid', message },
    ...(status !== undefined && { status }),
  });
  if (modelIn(rules.path, pathname) === undefined)
    return {
      fault: { kind: 'not_found', message: `The path is ${pathname} instead of ${rules.path}.` },
      status: 404,
    };
  if (method !== 'POST') return invalid(`The method is ${method} instead of POST.`, 405);
  const unauthorized = unauthorizedIn(rules, request, keys);
  if (unauthorized !== undefined) return unauthorized;
  const { contentType = 'application/json', query = {} } = rules;
  const type = headers.get('content-type');
  if (type?.split(';')[0]?.trim().toLowerCase() !== contentType)
    return invalid(`The content type is ${type} instead of ${contentType}.`, 415);
  for (const [name, value] of Object.entries(rules.headers ?? {})) {
    const found = headers.get(name);
    if (found !== value) return invalid(`The header ${name} is ${found} instead of ${value}.`);
  }
  for (const [name, value] of Object.entries(query)) {
    const found = searchParams.get(name);
    if (found !== value) return invalid(`The query parameter ${name} is ${found} instead of ${value}.`);
  }
  return undefined;
}

/** Returns the model in the path of a URL, `''` if the path contains none, and undefined for another path. */
export function modelIn(path: string, pathname: string): string | undefined {
  const [before = '', after] = path.split('{model}');
  if (after === undefined) return pathname.endsWith(path) ? '' : undefined;
  if (!pathname.endsWith(after)) return undefined;
  const start = pathname.lastIndexOf(before);
  const model = pathname.slice(start + before.length, pathname.length - after.length);
  return start === -1 || model === '' || model.includes('/') ? undefined : decodeURIComponent(model);
}

function unauthorizedIn(
  { key, isSigned }: RequestRules,
  request: SentRequest,
  keys: readonly string[],
): Breach | undefined {
  if (keys.length === 0) return undefined;
  const reject = (message: string, sent = '', isExpired = false): Breach => {
    return { fault: { kind: 'auth', message }, status: 401, key: sent, isExpired };
  };
  if (key !== undefined) {
    const { header, prefix = '' } = key;
    const value = request.headers.get(header);
    if (value === null) return reject(`The header ${header} with the key is missing`);
    if (!value.startsWith(prefix)) return reject(`The header ${header} does not start with "${prefix}"`);
    const sent = value.slice(prefix.length);
    const at = keys.lastIndexOf(sent);
    if (at < keys.length - 1) return reject(`The key in ${header} is not valid`, sent, at !== -1);
  }
  if (isSigned === undefined) return undefined;
  const at = keys.findLastIndex((one) => isSigned(request, one));
  return at < keys.length - 1 ? reject('The signature is not valid', '', at !== -1) : undefined;
}
