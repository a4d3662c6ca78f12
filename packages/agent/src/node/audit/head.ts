import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, sign, verify } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { AuditRecord } from '../../audit/record.ts';
import { lineOf, withSignature } from '../../audit/record.ts';
import { AgentError } from '../../values/errors.ts';
import { read, record, text, when } from '../../values/input.ts';
import { isMissing } from '../held-directory.ts';

/** Returns the SHA-256 of a text in hexadecimal. A line of the log is read as Latin-1, so that no byte is lost. */
export function digestOf(text: string): string {
  return hash('sha256', Buffer.from(text, 'latin1'), 'hex');
}

/**
 * Returns the private key in a file that only its owner can read, and creates it if it does not exist.
 * @throws AgentError `invalid`, code `audit_key`, if the file contains something else.
 */
export function ownKey(path: string): KeyObject {
  try {
    return createPrivateKey(readFileSync(path));
  } catch (error) {
    if (!isMissing(error)) throw unusableKey(path);
    const { privateKey } = generateKeyPairSync('ed25519');
    replaceFile(path, String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
    return privateKey;
  }
}

function unusableKey(path: string): AgentError {
  const message = `${path} cannot be read as a private key. Move the directory that contains it elsewhere: the next command then starts a new audit log.`;
  return new AgentError({ kind: 'invalid', code: 'audit_key', message });
}

/** Returns the public half of a key: 32 bytes in base64url. */
export function publicKeyOf(key: KeyObject): string {
  return String(createPublicKey(key).export({ format: 'jwk' }).x);
}

/** Returns the line of a head: a record with a public key, and with the signature of everything before it in the line. */
export function signedLine(record: Omit<AuditRecord, 'kind'>, key: KeyObject): string {
  const body = lineOf({ ...record, kind: 'head', key: publicKeyOf(key) });
  return withSignature(body, sign(null, Buffer.from(body), key).toString('base64url'));
}

/** Returns the public key of a head, if its signature is valid. */
export function signerOf(line: string, { key: x }: AuditRecord): string | undefined {
  const [, body, signature = ''] = /^(.*),"signature":"([\w-]{86})"\}$/.exec(line) ?? [];
  const bytes = Buffer.from(signature, 'base64url');
  // Other texts have the same bytes, because not all bits of the last character count.
  if (body === undefined || typeof x !== 'string' || bytes.toString('base64url') !== signature)
    return undefined;
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const isValid = verify(null, Buffer.from(`${body}}`), key, bytes);
    return isValid ? x : undefined;
  } catch {
    return undefined;
  }
}

/** The last head that was written: a log without it is not complete. */
export interface LastHead {
  readonly seq: number;
  readonly hash: string;
  /** The position of its line in the file, in bytes. */
  readonly start: number;
  readonly end: number;
}

const offset = when<number>((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number');
const readHead = record<LastHead>({ seq: offset, hash: text, start: offset, end: offset }, [
  'seq',
  'hash',
  'start',
  'end',
]);

/** Reads the note about the last head; undefined if there is none. No line has the digest of a damaged note. */
export function lastHead(path: string): LastHead | undefined {
  try {
    return read(JSON.parse(readFileSync(path, 'utf8')), readHead, 'head');
  } catch (error) {
    return isMissing(error) ? undefined : { seq: 0, hash: 'unknown', start: 0, end: 0 };
  }
}

export function noteHead(path: string, head: LastHead): void {
  replaceFile(path, `${JSON.stringify(head)}\n`);
}

/** Writes a file that only its owner can read, all or nothing. The caller holds the lock. */
function replaceFile(path: string, content: string): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}
