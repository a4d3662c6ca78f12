import type { ResponseSink } from './wire.ts';

const brace = 123;

/** Matches the names of fields whose text is not content. */
const label = /^(type|object|event|do)$|(^|_)id$/;

/** Returns true if a payload holds more than its type, ids, numbers and flags, so that dropping it may lose content. */
export function holdsData(payload: unknown): boolean {
  if (typeof payload !== 'object' || payload === null) return typeof payload === 'string';
  const fields = payload as Record<string, unknown>;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (typeof value === 'string') {
      if (value !== '' && !label.test(name)) return true;
    } else if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) return true;
  }
  return false;
}

/**
 * Drops each field with data that a wire does not read, as `KIND.FIELD`. The response is then invalid, unless the wire
 * lists that in `ignored`. Numbers and flags are not data.
 *
 * @param kind what contains the fields, such as `tool_use`
 * @param read the names of the fields that the wire reads
 */
export function dropUnread(
  kind: string,
  fields: Readonly<Record<string, unknown>>,
  read: readonly string[],
  out: Pick<ResponseSink, 'ignore'>,
): void {
  for (const name in fields) {
    if (read.includes(name)) continue;
    const value = fields[name];
    const isData =
      typeof value === 'string'
        ? value !== ''
        : typeof value === 'object' && value !== null && Object.keys(value).length > 0;
    if (isData) out.ignore(`${kind}.${name}`);
  }
}

/** A payload that should be JSON but is not, so the stream can no longer be trusted. */
export class MalformedPayload {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Parses JSON, or returns {@link MalformedPayload}. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return new MalformedPayload(text);
  }
}

/** Parses JSON. Text that does not start like JSON, such as an end marker, is returned unchanged. */
export function parsePayload(text: string): unknown {
  if (text.charCodeAt(0) !== brace) return parseOther(text);
  // Does not call parseJson: this runs for every delta, and before the code is compiled a call costs more than its
  // work.
  try {
    return JSON.parse(text);
  } catch {
    return new MalformedPayload(text);
  }
}

function parseOther(text: string): unknown {
  const first = text.trimStart()[0];
  if (first === '{') return parseJson(text);
  if (first === '[') return beginsLikeArray(text) ? parseJson(text) : text;
  const value = parseJson(text);
  return value instanceof MalformedPayload ? text : value;
}

function beginsLikeArray(text: string): boolean {
  return /^\s*\[\s*([[{"\]\-0-9tfn]|$)/.test(text);
}
