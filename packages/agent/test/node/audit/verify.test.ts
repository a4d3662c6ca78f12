import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditReport } from '../../../src/node/audit/index.ts';
import { auditExpectation, auditFile, auditLines, verifyAudit } from '../../../src/node/audit/index.ts';
import { auditFolder, linesAt, openAt, writeAt } from './audit-rig.ts';

/** The lines of a log that ends with a signed head, and what it must contain. */
let lines: readonly string[] = [];
let expected: ReturnType<typeof auditExpectation> = {};

const count = 25;

beforeAll(() => {
  const folder = auditFolder(afterAll);
  const log = openAt(folder);
  for (let index = 0; index < count - 3; index += 1)
    log.note({ kind: 'token', change: 'created', token: `${index}` });
  log.close();
  lines = linesAt(folder);
  expected = auditExpectation(folder);
});

async function problemOf(changed: readonly string[], rest = expected): Promise<AuditReport['problem']> {
  return (await verifyAudit(Readable.from(changed), rest)).problem;
}

const place = fc.nat({ max: count - 1 });

describe('the check of an audit log', () => {
  test('accepts what was written, in chunks of any size', async () => {
    const text = lines.map((line) => `${line}\n`).join('');
    const chunks = text.match(/.{1,7}|\n/gs) ?? [];
    expect(await verifyAudit(auditLines(Readable.from(chunks)), expected)).toMatchObject({
      lines: count,
      signed: count,
    });
    expect(await problemOf(lines)).toBeUndefined();
  });

  test('finds a removed line, and names the one that took its place', async () => {
    await fc.assert(
      fc.asyncProperty(place, async (at) => {
        expect((await problemOf(lines.toSpliced(at, 1)))?.line).toBe(at + 1);
      }),
    );
  });

  test('finds a removed end', async () => {
    await fc.assert(
      fc.asyncProperty(place, async (at) => {
        expect((await problemOf(lines.slice(0, at)))?.line).toBe(at + 1);
      }),
    );
  });

  test('finds any changed character, and names its line', async () => {
    await fc.assert(
      fc.asyncProperty(
        place,
        fc.nat(),
        fc.constantFrom('0', 'a', '}', ' '),
        async (at, position, character) => {
          const line = lines[at] ?? '';
          const index = position % line.length;
          const changed = line.slice(0, index) + character + line.slice(index + 1);
          fc.pre(changed !== line);
          expect((await problemOf(lines.with(at, changed)))?.line).toBe(at + 1);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('accepts one text of a signature, and no other kind for a head', async () => {
    const head = lines.at(-1) ?? '';
    const others = ['A', 'B', 'Q', 'R', 'g', 'h', 'w', 'x'].map((last) => head.replace(/.(?="\}$)/, last));
    const changed = [...others, head.replace('"head"', '"hood"')].filter((line) => line !== head);
    for (const line of changed) {
      const problem = { line: count, message: 'has an invalid signature' };
      expect(await problemOf(lines.with(-1, line))).toEqual(problem);
    }
  });

  test('finds two swapped lines', async () => {
    await fc.assert(
      fc.asyncProperty(place, place, async (one, other) => {
        fc.pre(one !== other);
        const swapped = lines.with(one, lines[other] ?? '').with(other, lines[one] ?? '');
        expect((await problemOf(swapped))?.line).toBe(Math.min(one, other) + 1);
      }),
    );
  });

  test('finds an inserted line: a copy, or a new one that follows the line before it', async () => {
    await fc.assert(
      fc.asyncProperty(place, place, fc.boolean(), async (at, from, isForged) => {
        const next = JSON.parse(lines[at] ?? '');
        const line = isForged
          ? JSON.stringify({ ...next, kind: 'token', token: 'forged' })
          : (lines[from] ?? '');
        fc.pre(isForged || from !== at);
        expect((await problemOf(lines.toSpliced(at, 0, line)))?.line).toBe(at + 1);
      }),
    );
  });

  test('finds the end missing with an anchor alone, and without one only the chain', async () => {
    const head = expected.anchors?.[0] ?? '';
    expect(await problemOf(lines.slice(0, -1), { anchors: [head] })).toEqual({
      line: count,
      message: `is missing: no line has the digest ${head}`,
    });
    expect(await verifyAudit(Readable.from(lines.slice(0, -1)))).toMatchObject({
      lines: count - 1,
      signed: 0,
    });
  });

  test('finds a head that is signed with another key', async () => {
    const folder = auditFolder();
    writeAt(folder);
    rmSync(join(folder, 'key.pem'));
    writeAt(folder);
    const changed = linesAt(folder);
    expect(await problemOf(changed, {})).toEqual({ line: 8, message: 'is signed with another key' });
    const key = auditExpectation(folder).key ?? '';
    expect((await problemOf(changed, { key }))?.line).toBe(4);
  });

  test('finds what was changed after a gap, and reports the gap too', async () => {
    const folder = auditFolder();
    writeAt(folder);
    rmSync(auditFile(folder));
    writeAt(folder);
    const written = linesAt(folder);
    const gap = { line: 1, message: 'marks a gap: the signed head 4 was missing when it was written' };
    const rest = auditExpectation(folder);
    const report = await verifyAudit(Readable.from(written), rest);
    expect(report).toMatchObject({ lines: written.length, signed: written.length, problem: gap, gap });
    const changed = written.with(2, (written[2] ?? '').replace('created', 'removed'));
    expect(changed).not.toEqual(written);
    expect(await verifyAudit(Readable.from(changed), rest)).toMatchObject({
      problem: { line: 3, message: 'was changed after it was written' },
      gap,
    });
    expect(await problemOf(written.slice(0, -1), rest)).toMatchObject({ line: written.length });
  });
});
