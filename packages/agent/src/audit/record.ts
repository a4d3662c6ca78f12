import { read, text } from '../values/input.ts';
import { isObject } from '../values/json.ts';

/** The position of a call or a question. */
interface InSession {
  readonly session: string;
  readonly run: string;
  /** The user that the run is for, if the calling program names one. */
  readonly user?: string;
}

/** Something that the audit log records. It contains names and SHA-256 digests, but never the contents of a session. */
export type AuditFact = { readonly time?: string } & (
  | { readonly kind: 'start'; readonly version: string }
  | { readonly kind: 'stop' }
  | { readonly kind: 'sandbox'; readonly sandbox: string }
  | (InSession & {
      readonly kind: 'approval';
      readonly approvalId: string;
      readonly tool: string;
      /** The digest of what the user was asked to allow: the `hash` of the event. */
      readonly hash: string;
      /** The limit that the question is about, instead of a call. */
      readonly limit?: string;
    })
  | (InSession & {
      readonly kind: 'decision';
      readonly approvalId: string;
      readonly decision: string;
      /** Who decided, if known, such as the name of a token. */
      readonly by?: string;
    })
  | (InSession & {
      readonly kind: 'call';
      readonly callId: string;
      readonly tool: string;
      readonly status: 'started' | 'done' | 'failed' | 'denied' | 'not_run';
      /** The digest of the arguments when the call starts, and of the output when it ends. */
      readonly hash: string;
    })
  | {
      readonly kind: 'rule';
      /** `in_force` for the rules that options and configuration files give a program at its start. */
      readonly change: 'added' | 'removed' | 'in_force';
      /** What the rule decides. Default: `allow`. */
      readonly verdict?: 'allow' | 'deny';
      readonly tool: string;
      readonly hash: string;
    }
  | {
      readonly kind: 'token';
      readonly change: 'created' | 'removed';
      readonly token: string;
      readonly name?: string;
      readonly scopes?: readonly string[];
    }
  | {
      readonly kind: 'share';
      readonly change: 'added' | 'removed';
      readonly session: string;
      /** The user with whom the session is shared, and what this user may do. */
      readonly name: string;
      readonly may?: string;
      /** The user who shared it. */
      readonly by?: string;
    }
  /** Records that could not be written, or a signed head that is no longer in the file. */
  | { readonly kind: 'gap'; readonly lost: number }
  | { readonly kind: 'gap'; readonly missing: string; readonly head: number }
  /** The line above is the incomplete record of a crash. */
  | { readonly kind: 'torn'; readonly hash: string }
);

/** The fields of every line. */
export interface AuditRecord {
  readonly v: 1;
  /** Position in the log, starting at 1. */
  readonly seq: number;
  readonly time: string;
  readonly kind: string;
  /** The command that wrote the record, such as `chat` or `serve`. */
  readonly surface: string;
  readonly pid: number;
  /** The SHA-256 of the previous record's line, in hexadecimal. */
  readonly prev: string;
  /** The other fields depend on the kind. */
  readonly [field: string]: unknown;
}

/** The `prev` of the first record. */
export const firstPrev: string = '0'.repeat(64);

/** Number of records between two signed heads. */
export const headEvery = 100;

/** Maximum number of records that wait while they cannot be written. */
export const maxWaiting = 10_000;

/** Maximum length of a name in a record, in characters. */
const maxName = 200;

/** Returns the line of a record: JSON in ASCII, with long names cut. */
export function lineOf(record: object): string {
  const short = (_: string, value: unknown) => (typeof value === 'string' ? value.slice(0, maxName) : value);
  return JSON.stringify(record, short).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns the signed line of a head: the signature is of everything before it in the line. */
export function withSignature(body: string, signature: string): string {
  return `${body.slice(0, -1)},"signature":"${signature}"}`;
}

/** Reads a line; undefined if it is not a record. */
export function readAuditLine(line: string): AuditRecord | undefined {
  read(line, text, 'line');
  try {
    const value: unknown = JSON.parse(line);
    if (!isObject(value) || value['v'] !== 1) return undefined;
    const { seq, pid, prev } = value;
    const words = [value['time'], value['kind'], value['surface']];
    const isWhole =
      Number.isSafeInteger(seq) &&
      Number(seq) > 0 &&
      Number.isSafeInteger(pid) &&
      typeof prev === 'string' &&
      /^[0-9a-f]{64}$/.test(prev) &&
      words.every((word) => typeof word === 'string');
    return isWhole ? (value as unknown as AuditRecord) : undefined;
  } catch {
    return undefined;
  }
}
