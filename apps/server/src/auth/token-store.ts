import { hash as digest, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgentError } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import {
  callable,
  listOf,
  oneOf,
  optional,
  read,
  record,
  text,
  when,
  withMethods,
} from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import { z } from 'zod';
import type { Scope } from '../requests/scope.ts';
import { scopes } from '../requests/scope.ts';

/** A token without its secret. */
export interface TokenInfo {
  readonly id: string;
  /** The user that it stands for. Tokens with the same name stand for the same user. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Creation time in ISO 8601. */
  readonly createdAt: string;
  /** Expiry time in ISO 8601. If absent, the token is valid until it is deleted. */
  readonly expiresAt?: string;
  /** The budget in which its prompts count. Default: that of the server. */
  readonly budget?: string;
  /** Maximum number of requests per minute that change something. Default: no limit. */
  readonly requestsPerMinute?: number;
  /** Maximum number of sessions that run for its user at the same time. Default: no limit. */
  readonly runningSessions?: number;
}

/** A new token with its secret, which is shown only once. */
export interface NewToken extends TokenInfo {
  readonly token: string;
}

/** The storage of tokens between starts. */
export interface TokenFile {
  /** Returns the content; undefined if there is none yet. */
  read(): string | undefined;
  write(text: string): void;
}

/** A token to create. */
export type WantedToken = Omit<TokenInfo, 'id' | 'createdAt' | 'expiresAt'> & {
  readonly expiresInMs?: number;
};

const readLimit: Reader<number> = when(
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
  'a whole number above 0',
);

/** A duration after which a date still exists. */
const readDuration: Reader<number> = when(
  (value) => typeof value === 'number' && Math.abs(value) <= 1e14,
  'a number of milliseconds',
);

const readWanted = record<WantedToken>(
  {
    ...{ name: text, scopes: listOf(oneOf(...scopes)), expiresInMs: readDuration, budget: text },
    ...{ requestsPerMinute: readLimit, runningSessions: readLimit },
  },
  ['name', 'scopes'],
);

const readFile: Reader<TokenFile> = withMethods('read', 'write');

const stored = z.strictObject({
  v: z.literal(1),
  tokens: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      scopes: z.array(z.enum(scopes)),
      createdAt: z.iso.datetime(),
      expiresAt: z.iso.datetime().optional(),
      budget: z.string().optional(),
      requestsPerMinute: z.int().positive().optional(),
      runningSessions: z.int().positive().optional(),
      /** SHA-256 of the secret in hexadecimal. */
      hash: z.string(),
      /**
       * The secret itself, stored only for the owner token, which the command line reads to connect to its server.
       */
      token: z.string().optional(),
    }),
  ),
});

type StoredToken = z.infer<typeof stored>['tokens'][number];

const ownName = 'owner';

/** The tokens of a server. Secrets are compared by hash. */
export class TokenStore {
  readonly #file: TokenFile | undefined;
  /** The clock for expiry: milliseconds since 1970. */
  readonly now: () => number;
  readonly #byHash = new Map<string, StoredToken>();
  readonly #listeners = new Set<(id: string) => void>();
  readonly #addListeners = new Set<(token: TokenInfo) => void>();

  /**
   * @param file Default: tokens exist only as long as the process.
   * @throws AgentError `invalid`, code `tokens`, if the file is not a valid token file.
   */
  constructor(file?: TokenFile, now: () => number = Date.now) {
    this.#file = read(file, optional(readFile), 'file');
    this.now = read<() => number>(now, callable, 'now');
    for (const token of readStored(this.#file?.read())) this.#byHash.set(token.hash, token);
  }

  /** Returns the owner token, which has every scope; creates it if it does not exist. */
  own(): string {
    const known = this.#living().find(({ name, token }) => name === ownName && token !== undefined);
    return known?.token ?? this.#add({ name: ownName, scopes: ['admin'] }, true).token;
  }

  /** Creates a new owner token. The old one expires after `graceMs`, so that its users can switch. */
  rotate(graceMs: number = 0): string {
    read(graceMs, readDuration, 'graceMs');
    const before = this.#living().filter(({ name }) => name === ownName);
    const { token } = this.#add({ name: ownName, scopes: ['admin'] }, true);
    for (const { token: _, ...old } of before) {
      if (graceMs <= 0) this.remove(old.id);
      else this.#byHash.set(old.hash, { ...old, name: 'former owner', expiresAt: this.#timeAfter(graceMs) });
    }
    this.#save();
    return token;
  }

  add(wanted: WantedToken): NewToken {
    return this.#add(read(wanted, readWanted, 'wanted'), false);
  }

  /** Returns the token of a secret if it is valid now. */
  find(secret: string): TokenInfo | undefined {
    const token = this.#byHash.get(hashOf(read(secret, text, 'secret')));
    return token !== undefined && this.#lives(token) ? infoOf(token) : undefined;
  }

  /** True if the token with this id is still valid. */
  has(id: string): boolean {
    return this.#living().some((token) => token.id === id);
  }

  /** Returns the key that signs the cookies of a token while it is valid. It is as secret as the token file. */
  cookieKey(id: string): string | undefined {
    return this.#living().find((token) => token.id === id)?.hash;
  }

  list(): TokenInfo[] {
    return this.#living().map(infoOf);
  }

  /** Deletes a token. Returns false if there is no token with this id. */
  remove(id: string): boolean {
    const token = [...this.#byHash.values()].find((one) => one.id === id);
    if (token === undefined) return false;
    this.#byHash.delete(token.hash);
    this.#save();
    for (const listener of this.#listeners) listener(id);
    return true;
  }

  /** Calls the listener with the id of each deleted token. */
  onRemove(listener: (id: string) => void): void {
    this.#listeners.add(read<(id: string) => void>(listener, callable, 'listener'));
  }

  /** Calls the listener with each new token. */
  onAdd(listener: (token: TokenInfo) => void): void {
    this.#addListeners.add(read<(token: TokenInfo) => void>(listener, callable, 'listener'));
  }

  #add({ expiresInMs, ...wanted }: WantedToken, isOwn: boolean): NewToken {
    const token = `cbk_${randomBytes(32).toString('base64url')}`;
    const info: TokenInfo = {
      id: `tok_${randomBytes(8).toString('hex')}`,
      ...defined(wanted),
      scopes: [...new Set(wanted.scopes)],
      createdAt: new Date(this.now()).toISOString(),
      ...(expiresInMs !== undefined && { expiresAt: this.#timeAfter(expiresInMs) }),
    };
    const hash = hashOf(token);
    this.#byHash.set(hash, { ...info, scopes: [...info.scopes], hash, ...(isOwn && { token }) });
    this.#save();
    for (const listener of this.#addListeners) listener(info);
    return { ...info, token };
  }

  #living(): StoredToken[] {
    return [...this.#byHash.values()].filter((token) => this.#lives(token));
  }

  #lives(token: StoredToken): boolean {
    return endOf(token) > this.now();
  }

  #timeAfter(ms: number): string {
    return new Date(this.now() + ms).toISOString();
  }

  #save(): void {
    this.#file?.write(`${JSON.stringify({ v: 1, tokens: this.#living() }, null, 2)}\n`);
  }
}

/**
 * Returns a token file that only its owner can read.
 * @throws AgentError `invalid` for a path that is not a string.
 */
export function tokenFile(path: string): TokenFile {
  read(path, text, 'path');
  return {
    read() {
      try {
        const content = readFileSync(path, 'utf8');
        // Removes access that other users have to an existing file. They may already have read it.
        chmodSync(path, 0o600);
        return content;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw invalidFile(
          `cannot read the token file (${(error as NodeJS.ErrnoException).code}). Check its permissions`,
        );
      }
    },
    write(content) {
      read(content, text, 'text');
      const fresh = `${path}.${randomBytes(4).toString('hex')}`;
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        writeFileSync(fresh, content, { mode: 0o600, flag: 'wx' });
        renameSync(fresh, path);
      } catch (error) {
        rmSync(fresh, { force: true });
        throw invalidFile(
          `cannot write the token file (${(error as NodeJS.ErrnoException).code}). Check the permissions of its directory`,
        );
      }
    },
  };
}

function readStored(content: string | undefined): readonly StoredToken[] {
  if (content === undefined) return [];
  let data: unknown;
  try {
    data = JSON.parse(content);
  } catch {
    throw invalidFile('the token file is not JSON. Move it elsewhere; the server will then create a new one');
  }
  const parsed = stored.safeParse(data);
  if (!parsed.success)
    throw invalidFile('the token file is damaged. Move it elsewhere; the server will then create a new one');
  return parsed.data.tokens;
}

/** Returns the expiry time of a token in milliseconds since 1970. */
export function endOf({ expiresAt }: { readonly expiresAt?: string | undefined }): number {
  return expiresAt === undefined ? Infinity : Date.parse(expiresAt);
}

function infoOf({
  id,
  name,
  scopes: granted,
  createdAt,
  hash: _,
  token: __,
  ...rest
}: StoredToken): TokenInfo {
  return { id, name, scopes: granted, createdAt, ...defined(rest) };
}

function hashOf(secret: string): string {
  return digest('sha256', secret, 'hex');
}

function invalidFile(problem: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'token_file', message: `Cannot start: ${problem}.` });
}
