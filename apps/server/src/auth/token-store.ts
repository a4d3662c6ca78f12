import { hash as digest, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { z } from 'zod';
import type { Scope } from '../requests/scope.ts';
import { scopes } from '../requests/scope.ts';

/** A token without what makes it valid. */
export interface TokenInfo {
  readonly id: string;
  /** Its purpose, in the words of its creator. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. Absent: valid until it is deleted. */
  readonly expiresAt?: string;
}

/** A token whose secret is shown this once. */
export interface NewToken extends TokenInfo {
  readonly token: string;
}

/** Where tokens are kept between starts. */
export interface TokenFile {
  /** The content, or nothing when there is none yet. */
  read(): string | undefined;
  write(text: string): void;
}

const stored = z.strictObject({
  v: z.literal(1),
  tokens: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      scopes: z.array(z.enum(scopes)),
      createdAt: z.iso.datetime(),
      expiresAt: z.iso.datetime().optional(),
      /** SHA-256 of the secret, hexadecimal. */
      hash: z.string(),
      /** The secret itself: only for the owner's own token, which the command line reads to reach its server. */
      token: z.string().optional(),
    }),
  ),
});

type StoredToken = z.infer<typeof stored>['tokens'][number];

/** The name of the token that belongs to the owner of the server. */
const ownName = 'owner';

/** The tokens of a server. Secrets are compared by their hash. */
export class TokenStore {
  readonly #file: TokenFile | undefined;
  /** The clock by which tokens end: milliseconds since 1970. */
  readonly now: () => number;
  readonly #byHash = new Map<string, StoredToken>();
  readonly #listeners = new Set<(id: string) => void>();

  /**
   * @param file Default: tokens live as long as the process.
   * @throws AgentError `invalid`, code `tokens`, for a file that is not one of tokens.
   */
  constructor(file?: TokenFile, now: () => number = Date.now) {
    this.#file = file;
    this.now = now;
    for (const token of readStored(file?.read())) this.#byHash.set(token.hash, token);
  }

  /** The owner token, which has every scope; created when it does not exist. */
  own(): string {
    const known = this.#living().find(({ name, token }) => name === ownName && token !== undefined);
    return known?.token ?? this.#add({ name: ownName, scopes: ['admin'] }, true).token;
  }

  /** A new owner token; the old one expires after `graceMs`, so that its users can switch. */
  rotate(graceMs: number = 0): string {
    const before = this.#living().filter(({ name }) => name === ownName);
    const { token } = this.#add({ name: ownName, scopes: ['admin'] }, true);
    for (const { token: _, ...old } of before) {
      if (graceMs <= 0) this.remove(old.id);
      else this.#byHash.set(old.hash, { ...old, name: 'former owner', expiresAt: this.#after(graceMs) });
    }
    this.#save();
    return token;
  }

  /** Makes a token with these scopes. */
  add(wanted: { name: string; scopes: readonly Scope[]; expiresInMs?: number }): NewToken {
    return this.#add(wanted, false);
  }

  /** The token of a secret, if it is valid now. */
  find(secret: string): TokenInfo | undefined {
    const token = this.#byHash.get(hashOf(secret));
    return token !== undefined && this.#lives(token) ? infoOf(token) : undefined;
  }

  /** True if the token with this id is still valid. */
  has(id: string): boolean {
    return this.#living().some((token) => token.id === id);
  }

  /** The key that signs the cookies of a token while it is valid: as secret as the token file. */
  cookieKey(id: string): string | undefined {
    return this.#living().find((token) => token.id === id)?.hash;
  }

  list(): TokenInfo[] {
    return this.#living().map(infoOf);
  }

  /** Ends a token. False when there is none of this id. */
  remove(id: string): boolean {
    const token = [...this.#byHash.values()].find((one) => one.id === id);
    if (token === undefined) return false;
    this.#byHash.delete(token.hash);
    this.#save();
    for (const listener of this.#listeners) listener(id);
    return true;
  }

  /** Calls back with the id of each token that is ended. */
  onRemove(listener: (id: string) => void): void {
    this.#listeners.add(listener);
  }

  #add(wanted: { name: string; scopes: readonly Scope[]; expiresInMs?: number }, isOwn: boolean): NewToken {
    const token = `cbk_${randomBytes(32).toString('base64url')}`;
    const info: TokenInfo = {
      id: `tok_${randomBytes(8).toString('hex')}`,
      name: wanted.name,
      scopes: [...new Set(wanted.scopes)],
      createdAt: new Date(this.now()).toISOString(),
      ...(wanted.expiresInMs !== undefined && { expiresAt: this.#after(wanted.expiresInMs) }),
    };
    const hash = hashOf(token);
    this.#byHash.set(hash, { ...info, scopes: [...info.scopes], hash, ...(isOwn && { token }) });
    this.#save();
    return { ...info, token };
  }

  #living(): StoredToken[] {
    return [...this.#byHash.values()].filter((token) => this.#lives(token));
  }

  #lives(token: StoredToken): boolean {
    return endOf(token) > this.now();
  }

  #after(ms: number): string {
    return new Date(this.now() + ms).toISOString();
  }

  #save(): void {
    this.#file?.write(`${JSON.stringify({ v: 1, tokens: this.#living() }, null, 2)}\n`);
  }
}

/** Tokens in a file that only its owner may read. */
export function tokenFile(path: string): TokenFile {
  return {
    read() {
      try {
        const text = readFileSync(path, 'utf8');
        // One that was made readable by others is closed again; what they read by then is not undone.
        chmodSync(path, 0o600);
        return text;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw unusable(`cannot read the token file (${(error as NodeJS.ErrnoException).code})`);
      }
    },
    write(text) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const fresh = `${path}.${randomBytes(4).toString('hex')}`;
      try {
        writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' });
        renameSync(fresh, path);
      } catch (error) {
        rmSync(fresh, { force: true });
        throw unusable(`cannot write the token file (${(error as NodeJS.ErrnoException).code})`);
      }
    },
  };
}

function readStored(text: string | undefined): readonly StoredToken[] {
  if (text === undefined) return [];
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw unusable('the token file is not JSON. Move it away; the server then creates a new one');
  }
  const read = stored.safeParse(data);
  if (!read.success)
    throw unusable('the token file is damaged. Move it away; the server then creates a new one');
  return read.data.tokens;
}

/** When a token ends, in milliseconds since 1970. */
export function endOf({ expiresAt }: { readonly expiresAt?: string | undefined }): number {
  return expiresAt === undefined ? Infinity : Date.parse(expiresAt);
}

function infoOf({ id, name, scopes: granted, createdAt, expiresAt }: StoredToken): TokenInfo {
  return { id, name, scopes: granted, createdAt, ...defined({ expiresAt }) };
}

function hashOf(secret: string): string {
  return digest('sha256', secret, 'hex');
}

function unusable(problem: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'token_file', message: `Cannot start: ${problem}.` });
}
