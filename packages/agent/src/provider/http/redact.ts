import type { CauseSummary } from '../../values/errors.ts';
import { AgentError } from '../../values/errors.ts';

/** Removes secrets from text that may appear in a log, an event or on screen. */
export interface Redactor {
  text(text: string): string;
  /** Like `text`, for truncated text: a secret may be cut off at its end. */
  cutText(text: string): string;
  /** Returns the number of characters at the end that may be the start of a secret that continues in the next chunk. */
  unfinished(text: string): number;
  /** Returns the same fields with secrets removed from every value. */
  values(fields: Readonly<Record<string, string>>): Record<string, string>;
  /** Returns the same error with secrets removed from all its fields. */
  error(error: AgentError): AgentError;
}

const mask = '[redacted]';

/** Shorter strings are not secrets, and masking them would make every message unreadable. */
const minLength = 4;

const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
]);

/** Returns the secrets in a request's headers, with and without their authentication scheme. */
export function secretsInHeaders(headers: Readonly<Record<string, string>>): string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (secretHeaders.has(name.toLowerCase())) secrets.push(value, value.slice(value.indexOf(' ') + 1));
  }
  return secrets;
}

/** Returns the password in a URL, percent-encoded and decoded. */
export function secretsInUrl(url: string): string[] {
  const password = URL.parse(url)?.password ?? '';
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/** Creates a scrubber that masks these secrets as they are, and as encoded in JSON, URLs and base64. */
export function createRedactor(secrets: readonly string[]): Redactor {
  const spellings = new Set<string>();
  for (const secret of secrets) {
    for (const spelling of spellingsOf(secret)) if (spelling.length >= minLength) spellings.add(spelling);
  }
  // Longest first, because one secret may be part of another.
  const needles = [...spellings].sort((left, right) => right.length - left.length);
  const text = (given: string): string => {
    let clean = given;
    for (let index = 0; index < needles.length; index += 1)
      clean = clean.replaceAll(needles[index] as string, mask);
    return clean;
  };
  return {
    text,
    cutText: (given) => withoutCutSecret(text(given), needles),
    unfinished: (given) => Math.max(0, ...needles.map((needle) => partialLengthAtEnd(given, needle))),
    values: (fields) =>
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, text(value)])),
    error: (error) => redactError(error, text),
  };
}

function spellingsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, percentEncoded(secret), ...base64Of(secret)];
}

function percentEncoded(secret: string): string {
  // A lone surrogate cannot be encoded, and no key contains one.
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
    const length = partialLengthAtEnd(text, needle);
    if (length >= minLength) return text.slice(0, -length) + mask;
  }
  return text;
}

/** Returns the length of the longest proper prefix of the secret that the text ends with. */
function partialLengthAtEnd(text: string, needle: string): number {
  let length = Math.min(needle.length - 1, text.length);
  while (length > 0 && !text.endsWith(needle.slice(0, length))) length -= 1;
  return length;
}

function redactError(error: AgentError, text: (given: string) => string): AgentError {
  const data = error.toJSON();
  const { message, requestId, cause } = data;
  return new AgentError({
    ...data,
    message: text(message),
    ...(requestId !== undefined && { requestId: text(requestId) }),
    ...(cause !== undefined && { cause: redactCause(cause, text) }),
  });
}

function redactCause(cause: CauseSummary, text: (given: string) => string): CauseSummary {
  return {
    name: text(cause.name),
    message: text(cause.message),
    ...(cause.code !== undefined && { code: text(cause.code) }),
  };
}
