import type { AuditRecord } from '../../audit/record.ts';
import { firstPrev, readAuditLine } from '../../audit/record.ts';
import { listOf, read, record, text, when } from '../../values/input.ts';
import { digestOf, signerOf } from './head.ts';

/** What must be in the log. */
export interface AuditExpectation {
  /** Digests of lines that must be in the log, such as a head that was kept elsewhere. */
  readonly anchors?: readonly string[];
  /** The public key of all heads. Default: that of the first. */
  readonly key?: string;
}

/** The result of {@link verifyAudit}. */
export interface AuditReport {
  readonly lines: number;
  /** Number of records up to and including the last signed head. */
  readonly signed: number;
  /** Position and digest of the last record that was read. If there is no problem, keep the digest elsewhere as an anchor. */
  readonly head: { readonly seq: number; readonly hash: string };
  /** The public key of the heads; absent if there are none. */
  readonly key?: string;
  /** The first bad line, counted from 1, and what is wrong; otherwise the gap. Absent if the log is complete. */
  readonly problem?: { readonly line: number; readonly message: string };
  /** The first record that marks a gap. The lines after it are checked, too. */
  readonly gap?: { readonly line: number; readonly message: string };
}

const readLines = when<AsyncIterable<string>>(
  (value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value,
  'an async iterable of strings',
);

/** Yields the lines of a file that is read as chunks of Latin-1. */
export async function* auditLines(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of read(chunks, readLines, 'chunks')) {
    // Only the chunk is searched: a line without an end would otherwise be searched again with each one.
    const [first = '', ...more] = read(chunk, text, 'chunk').split('\n');
    const lines = [rest + first, ...more];
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

const readExpectation = record<AuditExpectation>({ anchors: listOf(text), key: text });

/** Checks the chain and the signatures of an audit log, line by line, up to the first bad line. */
export async function verifyAudit(
  lines: AsyncIterable<string>,
  expected: AuditExpectation = {},
): Promise<AuditReport> {
  const { anchors = [], key } = read(expected, readExpectation);
  const chain = new Chain(anchors, key);
  for await (const line of read(lines, readLines, 'lines')) {
    chain.read(line);
    if (chain.problem !== undefined) break;
  }
  chain.end();
  return chain.report;
}

class Chain {
  problem: AuditReport['problem'];
  #gap: AuditReport['gap'];
  readonly #missing: Set<string>;
  #key: string | undefined;
  #line = 0;
  #seq = 0;
  #signed = 0;
  /** The digest of the last record, and of the one before it. */
  #hash = firstPrev;
  #before = '';
  /** The digest of a line that is not a record: the next one must say that a crash has torn it. */
  #torn: string | undefined;
  /** The digest of a record that does not follow the one before it: the next one shows which of the two was changed. */
  #suspect: string | undefined;

  constructor(anchors: readonly string[], key: string | undefined) {
    this.#missing = new Set(anchors);
    this.#key = key;
  }

  get report(): AuditReport {
    const head = { seq: this.#seq, hash: this.#hash };
    const [key, gap, problem] = [this.#key, this.#gap, this.problem ?? this.#gap];
    return {
      lines: this.#line,
      signed: this.#signed,
      head,
      ...(key && { key }),
      ...(problem && { problem }),
      ...(gap && { gap }),
    };
  }

  read(line: string): void {
    this.#line += 1;
    const record = readAuditLine(line);
    const isChanged = this.#suspect !== undefined && record?.prev !== this.#suspect;
    if (this.#suspect !== undefined) return this.#fail(this.#line - (isChanged ? 1 : 2), wasChanged);
    if (record === undefined) {
      if (this.#torn === undefined) this.#torn = digestOf(line);
      else this.#fail(this.#line - 1, notRecord);
      return;
    }
    if (this.#torn !== undefined && (record.kind !== 'torn' || record['hash'] !== this.#torn))
      return this.#fail(this.#line - 1, notRecord);
    if (record.kind === 'torn' && this.#torn === undefined)
      return this.#fail(this.#line, 'marks an incomplete line, which was removed');
    this.#torn = undefined;
    this.#link(line, record);
  }

  /** Checks that a record follows the last one, and the signature of a head. */
  #link(line: string, record: AuditRecord): void {
    const hash = digestOf(line);
    const isHead = record.kind === 'head' || record['signature'] !== undefined;
    const signer = isHead ? signerOf(line, record) : undefined;
    if (isHead && signer === undefined) return this.#fail(this.#line, 'has an invalid signature');
    if (record.seq !== this.#seq + 1) {
      if (record.prev === this.#before && record.seq === this.#seq && hash !== this.#hash)
        return this.#fail(this.#line - 1, 'was inserted');
      const message = `has the number ${record.seq} instead of ${this.#seq + 1}: lines were removed, moved or inserted`;
      return this.#fail(this.#line, message);
    }
    if (record.prev !== this.#hash) {
      if (this.#seq === 0) return this.#fail(this.#line, wasChanged);
      if (signer !== undefined) return this.#fail(this.#line - 1, wasChanged);
      this.#suspect = hash;
      return;
    }
    if (record.kind === 'gap') this.#gap ??= { line: this.#line, message: `marks a gap: ${gapText(record)}` };
    this.#key ??= signer;
    if (signer !== undefined && signer !== this.#key)
      return this.#fail(this.#line, 'is signed with another key');
    if (signer !== undefined) this.#signed = record.seq;
    this.#before = this.#hash;
    this.#hash = hash;
    this.#seq = record.seq;
    this.#missing.delete(hash);
  }

  /** Checks what the end of the log must contain. */
  end(): void {
    if (this.problem !== undefined) return;
    if (this.#suspect !== undefined) return this.#fail(this.#line - 1, 'or the line after it was changed');
    if (this.#torn !== undefined) return this.#fail(this.#line, `${notRecord} and incomplete`);
    const [anchor] = this.#missing;
    if (anchor === undefined) return;
    this.#fail(this.#line + 1, `is missing: no line has the digest ${anchor}`);
  }

  #fail(line: number, message: string): void {
    this.problem = { line, message };
  }
}

const notRecord = 'is not a record';
const wasChanged = 'was changed after it was written';

function gapText({ lost, missing, head }: AuditRecord): string {
  return missing === undefined
    ? `${String(lost)} records could not be written`
    : `the signed head ${String(head)} was missing when it was written`;
}
