import { defined } from '../../values/defined.ts';
import type { CauseSummary } from '../../values/errors.ts';
import { AgentError } from '../../values/errors.ts';

/** Removes secrets from text that may reach a log, an event or a person. */
export interface Scrubber {
  text(text: string): string;
  /** Like `text`, for text that was cut: a secret may be cut in two at its end. */
  cutText(text: string): string;
  /** How many characters at the end may be the beginning of a secret whose rest has not come yet. */
  unfinished(text: string): number;
  /** The same fields with every value cleaned. */
  values(fields: Readonly<Record<string, string>>): Record<string, string>;
  /** The same error without secrets in any of its texts. */
  error(error: AgentError): AgentError;
}

const mask = '[redacted]';

/** Shorter texts are no secrets, and masking them would make every message unreadable. */
const minLength = 4;

const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
]);

/** Secrets that a request's own headers give away, without their scheme. */
export function secretsInHeaders(headers: Readonly<Record<string, string>>): string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (secretHeaders.has(name.toLowerCase())) secrets.push(value, value.slice(value.indexOf(' ') + 1));
  }
  return secrets;
}

/** The password of an address, as it stands there and as it was meant. */
export function secretsInUrl(url: string): string[] {
  const password = URL.parse(url)?.password ?? '';
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/** Masks these secrets, as they are and as JSON, URLs and base64 spell them. */
export function scrubberOf(secrets: readonly string[]): Scrubber {
  const spellings = new Set<string>();
  for (const secret of secrets) {
    for (const spelling of spellingsOf(secret)) if (spelling.length >= minLength) spellings.add(spelling);
  }
  // The longest first: one secret may be part of another.
  const needles = [...spellings].sort((left, right) => right.length - left.length);
  const text = (given: string): string => {
    let clean = given;
    for (const needle of needles) clean = clean.replaceAll(needle, mask);
    return clean;
  };
  return {
    text,
    cutText: (given) => withoutCutSecret(text(given), needles),
    unfinished: (given) => Math.max(0, ...needles.map((needle) => begunAtEnd(given, needle))),
    values: (fields) =>
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, text(value)])),
    error: (error) => scrubError(error, text),
  };
}

function spellingsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, percentEncoded(secret), ...base64Of(secret)];
}

function percentEncoded(secret: string): string {
  // Half a surrogate pair cannot be encoded, and no key holds one.
  return secret.isWellFormed() ? encodeURIComponent(secret) : secret;
}

function base64Of(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const padded = btoa(binary);
  const bare = padded.replace(/=+$/, '');
  return [padded, bare, bare.replaceAll('+', '-').replaceAll('/', '_')];
}

function withoutCutSecret(text: string, needles: readonly string[]): string {
  for (const needle of needles) {
    for (let length = needle.length - 1; length >= minLength; length -= 1) {
      if (text.endsWith(needle.slice(0, length))) return text.slice(0, -length) + mask;
    }
  }
  return text;
}

/** The length of the longest beginning of the secret, short of all of it, that the text ends with. */
function begunAtEnd(text: string, needle: string): number {
  let length = Math.min(needle.length - 1, text.length);
  while (length > 0 && !text.endsWith(needle.slice(0, length))) length -= 1;
  return length;
}

function scrubError(error: AgentError, text: (given: string) => string): AgentError {
  const data = error.toJSON();
  const { message, requestId, cause } = data;
  const clean = {
    message: text(message),
    requestId: requestId === undefined ? undefined : text(requestId),
    cause: cause === undefined ? undefined : scrubCause(cause, text),
  };
  return new AgentError({
    ...data,
    message: clean.message,
    ...defined({ requestId: clean.requestId, cause: clean.cause }),
  });
}

function scrubCause(cause: CauseSummary, text: (given: string) => string): CauseSummary {
  return {
    name: text(cause.name),
    message: text(cause.message),
    ...(cause.code !== undefined && { code: text(cause.code) }),
  };
}
